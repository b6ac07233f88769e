"""A lease in the store: of several processes one acts, on both kinds of store."""

from __future__ import annotations

import subprocess
import sys

import pytest

import hedgerow as hr
from hedgerow.live.lease import Lease, LeaseHeldError
from hedgerow.live.schema import LEASES


@pytest.fixture
def session(place):
    with hr.live.open_session(place, "shop", hr.projection_free_coco(hr.sets.Simplex(2))) as opened:
        yield opened


def change(session, **values):
    with session.store.writing() as connection:
        connection.execute(LEASES.update().values(**values))


def ended_process():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_one_at_a_time(session):
    with Lease(session, 30.0) as lease:
        with pytest.raises(LeaseHeldError, match="acts on session 'shop'; stop it, or wait 30 s"):
            Lease(session, 30.0).renew()
        lease.renew()
    with Lease(session, 30.0):  # it was given back
        pass


def test_it_expires(session):
    Lease(session, -1.0).renew()
    Lease(session, 30.0).renew()


def test_that_of_a_process_that_ended_is_taken_over_on_its_own_machine_alone(session):
    first, second = Lease(session, 30.0), Lease(session, 30.0)
    first.renew()
    change(session, process=ended_process(), place="another machine")
    with pytest.raises(LeaseHeldError):
        second.renew()
    change(session, place=first._place)
    second.renew()
    with pytest.raises(LeaseHeldError):  # the first one lost it
        first.renew()
    first.release()  # which does not touch that of others
    second.renew()
    with pytest.raises(LeaseHeldError):
        first.renew()
