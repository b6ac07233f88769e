"""Snapshots in files: bit for bit the same play afterwards, and no damaged file gets in."""

from __future__ import annotations

import hashlib
import io
import re
import tracemalloc
import zipfile

import numpy as np
import pytest

import hedgerow as hr
from hedgerow.snapshot import Stateful

X = hr.sets.Simplex(4)
PROBLEM = hr.problems.IidSimplex(n=4, horizon=60, seed=1)


def coco() -> hr.policies.Fallback:
    return hr.projection_free_coco(X)


def bandit() -> hr.ConstrainedBandit:
    return hr.projection_free_bandit(X, 60, 5, lipschitz=3.0, bound=3.0)


MADE = {
    "coco": coco,
    "plain": lambda: hr.projection_free_coco(X, tracking=False),
    "advised": lambda: hr.projection_free_coco(X, advisers=["plan"]),
    "bandit, which draws": bandit,
    "sampled": lambda: hr.Sampled(hr.projection_free_coco(X), 3),
    "whole constraints": lambda: hr.baselines.guo_recoo(X),
    "learner": lambda: hr.projection_free_coco(X, tracking=False).learner,
}


def played(policy, first, last):
    """Play some rounds of the problem and return the plays."""
    rounds, plays = list(PROBLEM)[first:last], []
    for cost, constraint in rounds:
        plays.append(policy.ask())
        if hasattr(policy, "feedback"):
            look = policy.feedback
            policy.tell(look(cost, plays[-1]), look(constraint, plays[-1]))
        else:
            policy.tell(hr.first_order(cost, plays[-1]))
    return np.array(plays)


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_a_loaded_policy_plays_on_bit_for_bit(make, tmp_path):
    policy, other, path = make(), make(), tmp_path / "policy.hedgerow"
    played(policy, 0, 30)
    policy.save(path)
    assert other.load(str(path)) is None
    assert np.array_equal(played(policy, 30, 60), played(other, 30, 60))
    assert other.state()["checksum"] == policy.state()["checksum"]
    other.save(path)  # replaces it
    make().load(path)
    assert [file.name for file in tmp_path.iterdir()] == ["policy.hedgerow"]


class Drawing(Stateful):
    """Draws from a stream of a user's own choice."""

    def __init__(self, bits):
        self._rng = np.random.Generator(bits(7))


@pytest.mark.parametrize("bits", [np.random.MT19937, np.random.PCG64, np.random.Philox])
def test_every_random_stream_goes_on(bits, tmp_path):
    one, other = Drawing(bits), Drawing(bits)
    one._rng.random(11)
    one.save(tmp_path / "stream")
    other.load(tmp_path / "stream")
    assert np.array_equal(one._rng.random(700), other._rng.random(700))


@pytest.fixture
def saved(tmp_path):
    policy, path = coco(), tmp_path / "policy.hedgerow"
    played(policy, 0, 30)
    policy.save(path)
    return path


def refused(path, why, policy=None):
    """The file is refused in one sentence that names it, and the policy stays as it is."""
    policy = coco() if policy is None else policy
    before = policy.state()["checksum"]
    with pytest.raises(ValueError, match=why) as refusal:
        policy.load(path)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert policy.state()["checksum"] == before


def test_the_same_snapshot_makes_the_same_file(saved, tmp_path):
    policy = coco()
    policy.load(saved)
    policy.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_a_file_cut_anywhere_is_refused(saved):
    whole = saved.read_bytes()
    header = whole.index(b"hedgerow-snapshot.json")
    places = {0, 1, header + 3, header + 40, len(whole) // 2, len(whole) - 64, len(whole) - 1}
    places |= {whole.index(b"numbers.npy") + k for k in (0, 30, 200)}
    for end in sorted(places):
        saved.write_bytes(whole[:end])
        refused(saved, "was cut or changed|is no snapshot")
    saved.write_bytes(whole + b"\0")
    refused(saved, "was cut or changed")


def test_a_flipped_byte_anywhere_is_refused(saved):
    whole = saved.read_bytes()
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        saved.write_bytes(damaged)
        refused(saved, "was cut or changed|is no snapshot")


def test_foreign_files_are_refused(saved, tmp_path):
    foreign = tmp_path / "foreign.zip"
    with zipfile.ZipFile(foreign, "w") as parts:
        parts.writestr("letter.txt", "dear reader")
    refused(foreign, "is no snapshot of hedgerow")
    np.savez(tmp_path / "arrays.npz", x=np.ones(3))
    refused(tmp_path / "arrays.npz", "is no snapshot of hedgerow")
    saved.write_text("{}")
    refused(saved, "is no snapshot of hedgerow")
    with pytest.raises(FileNotFoundError, match=re.escape("nowhere")):
        coco().load(tmp_path / "nowhere")


def test_a_file_with_a_right_digest_and_wrong_contents_is_refused(saved):
    """As another release, or a forger, may write it."""
    policy = coco()
    state = policy.state()
    state["layout"] = {}
    from hedgerow import files

    files.write_snapshot(saved, state)
    refused(saved, "built with other arguments")
    whole = files.pack_snapshot(policy.state())
    with zipfile.ZipFile(io.BytesIO(whole)) as parts:
        numbers = parts.read("numbers.npy")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as parts:
        parts.writestr("hedgerow-snapshot.json", '{"part": 3}')
        parts.writestr("numbers.npy", numbers)
        parts.comment = b"0" * 64
    body = packed.getvalue()[:-64]
    saved.write_bytes(body + files.hashlib.sha256(body).hexdigest().encode())
    refused(saved, "does not hold a snapshot that this release reads")


def test_no_object_is_unpickled(saved):
    """An array of objects in place of the numbers is refused, not executed."""
    objects = io.BytesIO()
    np.save(objects, np.array([print], dtype=object), allow_pickle=True)
    forge(saved, numbers=objects.getvalue())
    refused(saved, r"it declares an array of object of shape \(1,\)")


def forge(path, header=None, numbers=None, compression=zipfile.ZIP_STORED):
    """Write other contents into the file, with the right digest."""
    with zipfile.ZipFile(path) as parts:
        header = parts.read("hedgerow-snapshot.json") if header is None else header
        numbers = parts.read("numbers.npy") if numbers is None else numbers
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as parts:
        parts.writestr("hedgerow-snapshot.json", header)
        parts.writestr("numbers.npy", numbers)
        parts.comment = b"0" * 64
    body = packed.getvalue()[:-64]
    path.write_bytes(body + hashlib.sha256(body).hexdigest().encode())


def declared(shape: str, content: bytes) -> bytes:
    """Return a .npy that declares a shape over some content."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    text = (header + " " * (117 - len(header)) + "\n").encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + content


MANY = 1 << 26
FORGED = {
    "compressed numbers": (
        {"numbers": bytes(MANY), "compression": zipfile.ZIP_DEFLATED},
        "'hedgerow-snapshot.json' is compressed",
    ),
    "compressed header": (
        {"header": b" " * MANY, "compression": zipfile.ZIP_DEFLATED},
        "'hedgerow-snapshot.json' is compressed",
    ),
    "a large shape": ({"numbers": declared(f"({MANY},)", bytes(80))}, "and holds 80 bytes"),
    "a shape beyond memory": ({"numbers": declared(f"({10**15},)", bytes(80))}, "holds 80 bytes"),
    "two dimensions": ({"numbers": declared("(5, 2)", bytes(80))}, r"shape \(5, 2\)"),
    "a negative shape": ({"numbers": declared("(-1,)", bytes(80))}, r"shape \(-1,\)"),
    "deep parts": ({"header": '{"parts": {"a": ' * 20_000 + "1" + "}}" * 20_000}, "recursion"),
}  # fmt: skip


@pytest.mark.parametrize("what", FORGED)
def test_what_a_file_declares_is_checked_before_memory_is_taken(what, saved):
    contents, why = FORGED[what]
    forge(saved, **contents)
    policy, size = coco(), saved.stat().st_size
    assert size < 1_000_000
    tracemalloc.start()
    try:
        refused(saved, why, policy)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20 * size + 4_000_000 < MANY


def test_a_file_of_another_policy_is_refused(saved):
    refused(saved, "cannot restore ConstrainedBandit", bandit())
    refused(saved, "built with other arguments", hr.projection_free_coco(hr.sets.Simplex(5)))
    refused(saved, "built with other arguments", hr.projection_free_coco(X, eagerness=2.0))


def test_a_folder_that_cannot_be_written_leaves_nothing_behind(saved, tmp_path):
    whole = saved.read_bytes()
    with pytest.raises(OSError, match="nowhere"):
        coco().save(tmp_path / "nowhere" / "policy")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        coco().save(tmp_path / "folder")
    assert {file.name for file in tmp_path.iterdir()} == {"policy.hedgerow", "folder"}
    assert saved.read_bytes() == whole
