"""Live decisions: durable sessions in a store, with feedback that counts exactly once."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
