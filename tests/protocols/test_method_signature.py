"""Signatures of methods, found out once."""

from __future__ import annotations

import functools
import inspect

import pytest

from hedgerow.protocols.late_feedback import signature_of


class Told:
    def tell(self, cost, constraint, *, at=None):
        """Take both."""

    def anything(*given):
        """Take what comes."""

    @staticmethod
    def alone(cost):
        """Take one."""

    @classmethod
    def as_class(cls, cost, constraint):
        """Take both."""

    def __call__(self, cost):
        """Take one."""


told = Told()


def max_of(cost, constraint):
    return max(cost, constraint)


@pytest.mark.parametrize(
    "method",
    [
        *(told.tell, told.anything, told.alone, told.as_class, Told.tell, told),
        functools.partial(told.tell, 1),
        max_of,
    ],
)
def test_it_is_the_signature_that_inspect_finds(method):
    for _ in range(2):
        assert signature_of(method) == inspect.signature(method)


def test_a_method_replaced_on_the_object_is_looked_at_itself():
    other = Told()
    other.tell = abs
    assert list(signature_of(other.tell).parameters) == ["x"]
    assert list(signature_of(told.tell).parameters) == ["cost", "constraint", "at"]
