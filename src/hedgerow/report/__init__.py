"""Tables, figures and the page that report an experiment."""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
