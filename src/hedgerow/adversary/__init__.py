"""Adversarial games, and a search for the worst game for a given policy."""

from hedgerow.lazy_rooms import attach_room

__getattr__, __dir__, __all__ = attach_room(__name__, __file__)
