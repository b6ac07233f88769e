"""Numbers, lists and names that are too large are refused with their limit, at once."""

from __future__ import annotations

import pytest
from small_experiment import TEXT, invoked, small, written

from hedgerow.experiments.validation import distinct

TEN = "1" + "0" * 400
HUGE = "0x" + "f" * 5000
LARGE = {
    "seeds in a table": ("[20, 21]", "{first = 0, count = 100000000000000000000}",
                         "seeds.count must be at most 9223372036854775807, got 1000000000"),
    "seeds as a float": ("[20, 21]", "{first = 0, count = 1e20}",
                         "seeds.count must be a whole number of at least 1, got 1e+20"),
    "too many seeds": ("[20, 21]", "{first = 0, count = 1_000_000}",
                       "seeds may name 100000 seeds at most, got 1000000; ask for fewer"),
    "the last seed": ("[20, 21]", "{first = 9223372036854775807, count = 1}",
                      "seeds must end below 9223372036854775807, got first + count = 92"),
    "a seed": ("[20, 21]", f"[{TEN}]", "seeds[0] must be at most 9223372036854775807, got 1000"),
    "a seed of many digits": ("[20, 21]", f"[{HUGE}]", "got a value of type int that is too large"),
    "digits": ("[20, 21]", "[" + "1" * 5000 + "]", "small.toml: this is not TOML"),
    "a horizon": ("[60]", f"[{TEN}]", "horizons[0] must be at most 1000000000 rounds, got 1000"),
    "a horizon without end": ("[60]", "[1_000_000_000_000_000_000]",
                              "horizons[0] must be at most 1000000000 rounds, got 10000000000"),
    "a horizon of one problem": ("n = 4", "n = 4\nhorizons = [1_000_000_001]",
                                 "problems[0].horizons[0] must be at most 1000000000 rounds"),
    "a parameter": ("n = 4", f"n = {TEN}", "problems[0].n must be at most 9223372036854775807"),
    "a number": ("[60]", f"[60]\neagerness = [{TEN}]", "eagerness[0] must be a finite number"),
    "a number of many digits": ("[60]", f"[60]\neagerness = [{HUGE}]",
                                "eagerness[0] must be a finite number, got a value of type int"),
    "nested lists": ("[60]", "[" * 5000 + "]" * 5000, "nested too deeply; flatten them"),
    "nested tables": ("n = 4", "n = " + "{a = " * 5000 + "1" + "}" * 5000, "nested too deeply"),
    "dotted names": ('name = "small"', "name." + ".".join(["a"] * 5000) + " = 1",
                     "name must be a text, got "),  # what can be shown depends on the interpreter
    "a long key": ("horizons", "h" * 200_000 + " = 1\nhorizons", "has an unknown key 'hhhhhhh"),
    "a long kind": ("iid_simplex", "i" * 200_000, "got 'iiii"),
}  # fmt: skip


@pytest.mark.parametrize("what", LARGE)
def test_what_is_too_large_is_one_sentence(what, tmp_path):
    old, new, words = LARGE[what]
    assert old in TEXT
    file = written(tmp_path, TEXT.replace(old, new, 1))
    result = invoked("run", file, "-o", tmp_path / "out", "--workers", 1)
    assert result.exit_code == 2, result.output
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"hedgerow: {file}: ")
    assert words in line
    assert len(line) < 1000
    assert not (tmp_path / "out").exists()


def test_a_large_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("hedgerow.experiments.reading.LARGEST_FILE", 100)
    with pytest.raises(ValueError, match=r"the file has \d+ bytes, at most 100 are read"):
        small(tmp_path)


class Counted(int):
    """A number that counts how often it is compared."""

    compared = 0
    __hash__ = int.__hash__

    def __eq__(self, other):
        Counted.compared += 1
        return int.__eq__(self, other)


def test_entries_are_compared_once(monkeypatch):
    monkeypatch.setattr(Counted, "compared", 0)
    entries = [Counted(i) for i in range(1, 3001)]
    assert len(distinct(entries)) == 3000
    with pytest.raises(ValueError, match=r"\[3000\] is 2999 again"):
        distinct([*entries, Counted(2999)])
    assert Counted.compared < 100
