"""Every method that is not the paper's own, one file per paper family, and the registry of all."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
