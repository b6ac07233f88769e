"""Networks: from measurement files to graphs that say what was measured and what was invented."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
