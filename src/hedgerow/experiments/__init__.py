"""Experiments: problems x methods x presets x horizons x seeds, to files on disk."""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
