"""Experiments: problems x methods x presets x horizons x seeds, to files on disk."""

from hedgerow.lazy_rooms import attach_room

__getattr__, __dir__, __all__ = attach_room(__name__, __file__)
