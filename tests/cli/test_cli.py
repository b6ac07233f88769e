from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hedgerow
from hedgerow.release import this_version


def run(*arguments, cwd):
    code = "from hedgerow.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=cwd
    )


def test_demo_on_a_pipe(tmp_path: Path):
    run("demo", "--horizon", "60", cwd=tmp_path)  # the first compiles, and says so on stderr
    result = run("demo", "--horizon", "60", "--seed", "3", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == "", "no progress bar on a pipe"
    for words in ("practical preset", "theory preset", "plain OCG", "Figure: out/demo.png"):
        assert words in result.stdout
    assert "synthetic" in result.stdout, "invented bandwidth says so"
    assert "…" not in result.stdout, "nothing is cut off at 80 columns"
    picture = (tmp_path / "out/demo.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 10_000


def test_version_and_help(tmp_path: Path):
    assert run("--version", cwd=tmp_path).stdout == f"hedgerow {this_version()}\n"
    assert "demo" in run(cwd=tmp_path).stdout
    wrong = run("demo", "--horizon", "3", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "--horizon" in wrong.stderr


def test_missing_extra_is_one_sentence():
    code = "import sys; sys.modules['typer'] = None; from hedgerow.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.strip() == (
        'hedgerow: the command line needs typer; install it with: pip install ".[cli]"'
    )


def test_verify_accepts_a_run_and_refuses_a_changed_one(tmp_path: Path):
    problem = hedgerow.problems.IidSimplex(n=3, horizon=20, seed=0)
    policy = hedgerow.projection_free_coco(problem.decision_set)
    hedgerow.testing.record_run(policy, problem, tmp_path / "game.run")
    digest = hedgerow.testing.verify_run(tmp_path / "game.run")["sha256"]
    whole = run("verify", "game.run", "--sha256", digest, cwd=tmp_path)
    assert (whole.returncode, whole.stdout.partition(": cost")[0]) == (0, "game.run: holds")
    other = run("verify", "game.run", "--sha256", "0" * 64, cwd=tmp_path)
    assert other.returncode == 1
    assert digest in other.stdout
    content = (tmp_path / "game.run").read_bytes()
    (tmp_path / "cut.run").write_bytes(content[:-100])
    bad = run("verify", "game.run", "cut.run", "none.run", cwd=tmp_path)
    assert bad.returncode == 1
    first, second, third = bad.stdout.splitlines()
    assert first.startswith("game.run: holds")
    assert second.startswith("cut.run: refused: it was cut or changed")
    assert third == "none.run: refused: no such file or directory"
