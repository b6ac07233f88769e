"""The best fixed action in hindsight, with a proof of how good it is."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
