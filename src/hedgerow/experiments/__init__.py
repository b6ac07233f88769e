"""Experiments: problems x methods x presets x horizons x seeds, to files on disk."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
