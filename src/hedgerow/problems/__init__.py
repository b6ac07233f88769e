"""Problems: round sequences with a feasible point, one class per story."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
