"""The synthetic games, small, for tests."""

from __future__ import annotations

import hedgerow as hr

GAMES = {
    "iid_simplex": lambda seed, T: hr.IidSimplex(n=12, horizon=T, seed=seed),
    "switching_ball": lambda seed, T: hr.SwitchingBall(n=6, horizon=T, seed=seed),
    "switching_ball_root": lambda seed, T: hr.SwitchingBall(n=6, horizon=T, seed=seed, growth=1.0),
    "halfspace_box": lambda seed, T: hr.HalfspaceBox(n=6, horizon=T, seed=seed),
    "orthogonal_ball": lambda seed, T: hr.OrthogonalBall(n=6, horizon=T, seed=seed),
    "quadratic_box": lambda seed, T: hr.QuadraticBox(n=6, horizon=T, seed=seed),
}
