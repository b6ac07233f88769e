"""The conformance kit: checks for sets, learners and policies, including your own.

A contract is a tuple of small checks; each is run on the part that you hand over, and the first
that fails raises an AssertionError that names it.
"""

from hedgerow.lazy_rooms import attach_room

__getattr__, __dir__, __all__ = attach_room(__name__, __file__)
