"""LiteLLM's routing strategies and shares by Hedgerow on one trace: writes litellm_routing.json.

`python evidence/litellm_routing.py`, about 20 minutes; it needs `pip install ".[litellm]"`. The
trace is generated: four deployments of one model, the cheaper the slower, whose latencies drift,
and an incident in which the third is five times as slow for a while. Requests go through LiteLLM's
router with `mock_response` and `mock_delay`, and every strategy sees the latencies that it
measures. Spend and latency are those of the trace, for the deployment that served each request, so
that they do not depend on how busy this machine is.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from scipy.optimize import linprog

import hedgerow as hr
from hedgerow.integrations import Interval, LiteLLMShares

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # no look-up of prices
import litellm

FILE = Path(__file__).with_suffix(".json")
OBJECTIVE, INTERVAL, INTERVALS, AT_ONCE, SEED = 0.9, 40, 150, 40, 0
PRICES = {"spot": 1.0, "regional": 1.7, "standard": 2.6, "premium": 4.0}  # per million tokens
LATENCY = {"spot": 1.65, "regional": 1.02, "standard": 0.72, "premium": 0.48}  # seconds
MESSAGES = [{"role": "user", "content": "hello"}]
Make = Callable[[hr.DecisionSet], Any]


def mean_latencies() -> np.ndarray:
    """Return the mean latency of each deployment in each interval, in seconds."""
    t = np.arange(INTERVALS) / INTERVALS
    means = np.tile([*LATENCY.values()], (INTERVALS, 1))
    means[:, 0] *= 1.0 + 0.35 * np.sin(2.0 * np.pi * 1.5 * t)
    means[:, 1] *= 1.0 + 0.25 * np.sin(2.0 * np.pi * 2.0 * t + 1.0)
    means[:, 2] *= 1.0 + 0.15 * np.sin(2.0 * np.pi * t + 2.0)
    means[(t >= 0.55) & (t < 0.7), 2] *= 5.0  # the incident
    return means


MEANS = mean_latencies()
SIZES = np.random.default_rng(SEED).gamma(8.0, 1.0 / 8.0, INTERVALS * INTERVAL)
"""How much longer than the mean each request takes, wherever it is served."""


def cheapest(latencies: np.ndarray) -> np.ndarray:
    """Return the cheapest shares whose mean latency meets the objective."""
    ones = np.ones((1, len(PRICES)))
    return linprog([*PRICES.values()], latencies[None], [OBJECTIVE], ones, [1.0]).x


def make_router(strategy: str, weights: np.ndarray | None, **arguments: float) -> litellm.Router:
    """Return a router of the four deployments."""
    models = [
        {
            "model_name": "chat",
            "litellm_params": {
                "model": f"openai/{name}",
                "api_key": "none",
                "mock_response": "fine",
                "input_cost_per_token": 1e-6 * price,
                "output_cost_per_token": 1e-6 * price,
            }
            | ({} if weights is None else {"weight": float(weights[i])}),
            "model_info": {"id": name},
        }
        for i, (name, price) in enumerate(PRICES.items())
    ]
    return litellm.Router(
        model_list=models, routing_strategy=strategy, routing_strategy_args=arguments, num_retries=0
    )


async def replay(router: litellm.Router, label: str) -> tuple[np.ndarray, np.ndarray]:
    """Send the trace through a router; return who served each request, and its measured time."""
    seconds = np.zeros(len(SIZES))
    served, free = np.full(len(SIZES), -1), asyncio.Semaphore(AT_ONCE)
    names = [*PRICES]

    async def request(k: int) -> None:
        begin = time.monotonic()
        found = await router.acompletion(model="chat", messages=MESSAGES)
        seconds[k] = time.monotonic() - begin
        served[k] = names.index(found._hidden_params["model_id"])
        free.release()

    tasks = []
    for k in track(range(len(SIZES)), label, disable=not os.isatty(2)):
        await free.acquire()
        for i, deployment in enumerate(router.model_list):
            deployment["litellm_params"]["mock_delay"] = float(MEANS[k // INTERVAL, i] * SIZES[k])
        tasks.append(asyncio.create_task(request(k)))
        await asyncio.sleep(0)  # so that it reads these delays
    await asyncio.gather(*tasks)
    return served, seconds


def figures(served: np.ndarray) -> dict[str, float]:
    """Return spend and latency of the trace for these choices."""
    interval = np.arange(len(SIZES)) // INTERVAL
    latency = MEANS[interval, served] * SIZES
    means = latency.reshape(INTERVALS, INTERVAL).mean(axis=1)
    shares = np.bincount(served, minlength=len(PRICES)) / len(served)
    return {
        "price": float(np.take([*PRICES.values()], served).mean()),
        "mean_ms": 1e3 * float(latency.mean()),
        "p95_ms": 1e3 * float(np.quantile(latency, 0.95)),
        "intervals_over": float((means > OBJECTIVE).mean()),
        "excess_ms": 1e3 * float(np.maximum(means - OBJECTIVE, 0.0).mean()),
    } | {f"share_{name}": float(x) for name, x in zip(PRICES, shares, strict=True)}


def play(
    label: str,
    strategy: str = "simple-shuffle",
    weights: np.ndarray | None = None,
    policy: Make | None = None,
    **arguments: float,
) -> dict[str, Any]:
    """Replay the trace with a strategy of LiteLLM, or with shares by a policy."""
    random.seed(SEED)
    router = make_router(strategy, weights, **arguments)
    intervals: list[Interval] = []
    if policy is not None:
        shares = LiteLLMShares(
            router,
            "chat",
            OBJECTIVE,
            requests=INTERVAL,
            policy=policy,
            on_interval=intervals.append,
        )
        shares.attach()
    served, seconds = asyncio.run(replay(router, label))
    found: dict[str, Any] = figures(served) | {"measured_mean_ms": 1e3 * float(seconds.mean())}
    litellm.logging_callback_manager._reset_all_callbacks()
    if intervals:
        found["shares"] = [[round(x, 4) for x in one.shares.values()] for one in intervals]
        found["measured_ms"] = [round(1e3 * one.latency, 1) for one in intervals]
    return found


def by_foresight() -> dict[str, float]:
    """Return the least price of shares that are chosen anew, knowing each interval beforehand."""
    best = [cheapest(row) for row in MEANS]
    price = np.mean([x @ [*PRICES.values()] for x in best])
    mean = np.mean([x @ row for x, row in zip(best, MEANS, strict=True)])
    return {"price": float(price), "mean_ms": 1e3 * float(mean)}


def main() -> None:
    """Replay the trace with every strategy."""
    logging.disable(logging.WARNING)
    ours, wrapped = hr.projection_free_coco, hr.policies.ViolatedShare
    fixed = cheapest(MEANS.mean(axis=0))
    rows = {
        "simple-shuffle, equal": lambda label: play(label),
        "simple-shuffle, best fixed weights": lambda label: play(label, weights=fixed),
        "cost-based-routing": lambda label: play(label, "cost-based-routing"),
        "latency-based-routing": lambda label: play(label, "latency-based-routing"),
        "latency-based-routing, buffer 1": lambda label: play(
            label, "latency-based-routing", lowest_latency_buffer=1.0
        ),
        "Hedgerow": lambda label: play(label, policy=ours),
        "Hedgerow, 10 % of intervals over": lambda label: play(
            label, policy=lambda X: wrapped(ours(X), 0.1)
        ),
        "Hedgerow with the rule last_round": lambda label: play(
            label, policy=hr.baselines.last_round
        ),
    }
    found = {label: run(label) for label, run in rows.items()}
    setting = {
        "litellm": version("litellm"),
        "requests": len(SIZES),
        "interval": INTERVAL,
        "objective_ms": 1e3 * OBJECTIVE,
        "foresight": by_foresight(),
        "fixed_weights": fixed.round(4).tolist(),
    }
    FILE.write_text(json.dumps({"setting": setting, "strategies": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
