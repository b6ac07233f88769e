from .networks import draw_network as draw_network
from .page import write_report as write_report
from .summary import Summary as Summary
