"""Hedgerow inside other libraries: LiteLLM's router and Gymnasium, each an optional extra."""

from hedgerow.imports import attach_lazy

__getattr__, __dir__, __all__ = attach_lazy(__name__, __file__)
