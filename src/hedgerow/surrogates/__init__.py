"""Surrogates: how cost and constraint of a round become one loss."""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
