"""Steer a proxy: from metrics to weights, every few seconds, safely."""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
