"""Adversaries: games built to hurt, and a search for games that hurt a given policy."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
