"""Live routing: latencies drift, the process is killed, and nothing that was decided is lost.

A session splits traffic over a network, one decision a round, while latencies drift. Beside it runs
what a configuration file would have: the shortest path that had the bandwidth when it was written.
In the middle the process is killed by SIGKILL; the next one goes on where it was. The picture is
written to out/live_routing.png.
"""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

import hedgerow as hr

NODES, EDGES, ROUNDS, KILLED = 30, 90, 600, 250
STORE = Path("out/live_routing.db")


def rounds() -> tuple[hr.DecisionSet, list[tuple[hr.Linear, hr.Linear]]]:
    """The network, and what happens on it: latencies drift, bandwidth is asked for."""
    problem = hr.ShortestPath.random_network(nodes=NODES, edges=EDGES, horizon=ROUNDS, seed=0)
    rng = np.random.default_rng(1)
    drift, game = np.zeros(EDGES), []
    for cost, constraint in problem:
        drift = 0.995 * drift + 0.12 * rng.standard_normal(EDGES)
        game.append((hr.Linear(cost.grad(drift) * np.exp(drift)), constraint))
    return problem.decision_set, game


def configured(X: hr.DecisionSet, game: list[tuple[hr.Linear, hr.Linear]]) -> np.ndarray:
    """The shortest path that had the bandwidth in the first 20 rounds, on average."""
    latency = np.mean([f.coefficients for f, _ in game[:20]], axis=0)
    lack = np.mean([g.coefficients for _, g in game[:20]], axis=0)
    offset = np.mean([g.offset for _, g in game[:20]])
    paths = [X.lmo(latency + weight * lack) for weight in np.geomspace(1e-3, 1e3, 200)]
    return min((x for x in paths if lack @ x + offset <= 0.0), key=lambda x: latency @ x)


def session(X: hr.DecisionSet) -> hr.live.Session:
    """Begin or resume the session: the three lines of a decision loop are below."""
    return hr.live.open_session(STORE, "edge-eu", hr.projection_free_coco(X, tracking=True))


def work(loudly: bool) -> None:
    """Decide, act, tell what was seen, until the last round."""
    X, game = rounds()
    with session(X) as routing:
        for t in range(routing.status().answered, ROUNDS):
            decision = routing.ask(key=f"round-{t}")  # asked again after a kill: the same decision
            routing.tell(decision.id, *game[t])
            if loudly:
                print(t + 1, flush=True)


def killed_at(count: int) -> None:
    """Run this file as a process of its own, and kill it after so many rounds."""
    command = [sys.executable, __file__, "work"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        for line in process.stdout or ():
            if int(line) >= count:
                process.send_signal(signal.SIGKILL)
                break


def draw(latency: dict[str, np.ndarray], over: dict[str, np.ndarray]) -> Path:
    """Two curves that a manager reads: total latency saved, and missing bandwidth."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    saved = np.cumsum(latency["static"] - latency["live"])
    left.plot(saved, color="#0072B2")
    left.axhline(0.0, color="0.6", linewidth=0.8)
    left.set(title="Latency saved by deciding live", xlabel="round", ylabel="total, ms")
    for name, colour in (("live", "#0072B2"), ("static", "#D55E00")):
        right.plot(np.cumsum(np.maximum(over[name], 0.0)), color=colour, label=name)
    right.set(title="Bandwidth that was missing", xlabel="round", ylabel="total, Mbit/s")
    right.legend(frameon=False)
    for axes in (left, right):
        axes.axvline(KILLED, color="0.4", linestyle="--", linewidth=0.9)
        axes.text(KILLED, axes.get_ylim()[1], " kill -9", va="top", color="0.3")
        axes.spines[["top", "right"]].set_visible(False)
    path = STORE.with_suffix(".png")
    figure.savefig(path, dpi=150)
    plt.close(figure)
    return path


def main() -> None:
    """Kill the first process in the middle, finish with a second one, and compare."""
    STORE.parent.mkdir(exist_ok=True)
    for leftover in STORE.parent.glob("live_routing.db*"):
        leftover.unlink()
    killed_at(KILLED)
    X, game = rounds()
    with session(X) as routing:
        print(f"killed after {routing.status().answered} rounds, all of them in the store")
    work(loudly=False)
    with session(X) as routing:
        history, bound = routing.history(), routing.certificate()
    undisturbed = hr.projection_free_coco(X, tracking=True)
    for f, g in game:
        x = undisturbed.ask()
        undisturbed.tell(hr.first_order(f, x), hr.first_order(g, x))
    same = np.array_equal(routing.policy.ask(), undisturbed.ask())
    static = configured(X, game)
    latency = {"live": history.cost, "static": np.array([f(static) for f, _ in game])}
    over = {"live": history.violation, "static": np.array([g(static) for _, g in game])}
    for name in latency:
        missing = np.maximum(over[name], 0.0).sum()
        print(f"{name:7} {latency[name].mean():7.1f} ms per round, {missing:9.0f} Mbit/s missing")
    print(f"as if nobody had killed it: {same}; regret is at most {bound:.0f} ms")
    print(f"picture: {draw(latency, over)}")


if __name__ == "__main__":
    if sys.argv[1:] == ["work"]:
        work(loudly=True)
    else:
        main()
