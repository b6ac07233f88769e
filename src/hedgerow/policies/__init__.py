"""Policies: ask and tell with cost and constraint, one file per paper or family."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
