from .network_figure import draw_network as draw_network
from .page import write_report as write_report
from .series_figure import draw_series as draw_series
from .summary import Summary as Summary
