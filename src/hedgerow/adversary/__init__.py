"""Adversaries: games built to hurt, and a search for games that hurt a given policy."""

from hedgerow.lazy_rooms import attach_room

__getattr__, __dir__, __all__ = attach_room(__name__, __file__)
