"""The tutorial is followed literally, but for the step that installs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import tutorial

PAGE = tutorial.PAGE.read_text(encoding="utf-8")
SMALL = """Install:

<!-- install -->
```
$ pip install .
```

```
$ mkdir first
$ cd first
```

Save this as `six.py`:

```python
print(6 * 7)
```

```
$ python six.py \\
    --again
41
$ ls
six.py
```
"""


def test_the_tutorial_ends_with_the_promised_output(tmp_path):
    steps = tutorial.steps_of(PAGE, install=False)
    saved = [name for step in steps for name, _ in step.saved]
    assert saved == ["routes.py", "minute.py", "day.py", "measure.py"]
    printed = tutorial.follow(steps, tmp_path, tutorial.here())
    said = tutorial.differences(steps, printed)
    assert not said, f"{said}\nmake docs writes what is printed now"
    assert (tmp_path / "first/day.png").stat().st_size > 10_000
    assert (tmp_path / "first/out/backtest/backtest.html").is_file()
    assert tutorial.PAGE.with_name("day.png").is_file()


def test_only_the_installation_is_left_out():
    here, everything = (tutorial.steps_of(PAGE, install) for install in (False, True))
    left_out = [step.line for step in everything if step not in here]
    assert len(left_out) == 3
    assert left_out[-1].startswith("pip install")
    shown = sum(line.startswith("$ ") for line in PAGE.splitlines())
    assert len(everything) == shown


def test_a_difference_is_noticed_and_renewed(tmp_path):
    steps = tutorial.steps_of(SMALL, install=False)
    printed = tutorial.follow(steps, tmp_path, tutorial.here())
    assert printed == ["", "", "42\n", "six.py\n"]
    assert "-41\n+42" in tutorial.differences(steps, printed)
    assert tutorial.renewed(SMALL, steps, printed) == SMALL.replace("\n41\n", "\n42\n")


def test_a_command_that_fails_is_named(tmp_path):
    steps = tutorial.steps_of(SMALL.replace("ls\n", "ls no_such_file\n"), install=False)
    with pytest.raises(RuntimeError, match="ls no_such_file\nended with"):
        tutorial.follow(steps, tmp_path, tutorial.here())


def test_the_empty_environment_has_no_packages_of_this_one(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    own = str(Path(tutorial.sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([own, "/usr/bin"]))
    assert tutorial.empty()["PATH"] == "/usr/bin"
    assert "PYTHONPATH" not in tutorial.empty()
