from .network_figure import draw_network as draw_network
from .page import write_report as write_report
from .plots import plot_compare as plot_compare
from .plots import plot_shares as plot_shares
from .plots import plot_trace as plot_trace
from .series_figure import draw_series as draw_series
from .summary import Summary as Summary
