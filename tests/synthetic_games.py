"""The synthetic games, small, for tests."""

from __future__ import annotations

import hedgerow as hr

GAMES = {
    "iid_simplex": lambda seed, T: hr.problems.IidSimplex(n=12, horizon=T, seed=seed),
    "iid_linear": lambda seed, T: hr.problems.IidLinear(hr.sets.Simplex(5, total=2.0), T, seed),
    "switching_ball": lambda seed, T: hr.problems.SwitchingBall(n=6, horizon=T, seed=seed),
    "switching_ball_root": lambda seed, T: hr.problems.SwitchingBall(
        n=6, horizon=T, seed=seed, growth=1.0
    ),
    "halfspace_box": lambda seed, T: hr.problems.HalfspaceBox(n=6, horizon=T, seed=seed),
    "orthogonal_ball": lambda seed, T: hr.problems.OrthogonalBall(n=6, horizon=T, seed=seed),
    "quadratic_box": lambda seed, T: hr.problems.QuadraticBox(n=6, horizon=T, seed=seed),
}
