"""LiteLLM's router with shares: mocked responses and delays through the real router."""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter
from pathlib import Path

import pytest

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no look-up of prices
litellm = pytest.importorskip("litellm", reason="litellm is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of LiteLLM and its clients

from hedgerow.integrations import LiteLLMShares  # noqa: E402

MESSAGES = [{"role": "user", "content": "hello"}]
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "litellm.md"


@pytest.fixture(autouse=True)
def no_callbacks_of_other_tests():
    yield
    litellm.logging_callback_manager._reset_all_callbacks()


def deployment(name, delay, price, group="chat"):
    return {
        "model_name": group,
        "litellm_params": {
            "model": f"openai/{name}",
            "api_key": "none",
            "mock_response": "fine",
            "mock_delay": delay,
            "input_cost_per_token": price,
            "output_cost_per_token": price,
        },
        "model_info": {"id": name},
    }


def make_router(*more, strategy="simple-shuffle"):
    models = [deployment("cheap", 0.06, 1e-6), deployment("fast", 0.01, 4e-6), *more]
    return litellm.Router(model_list=models, routing_strategy=strategy, num_retries=0)


async def send(router, count, at_once=20, **more):
    served = []
    for _ in range(count // at_once):
        calls = [
            router.acompletion(model="chat", messages=MESSAGES, **more) for _ in range(at_once)
        ]
        found = await asyncio.gather(*calls, return_exceptions=True)
        served += [getattr(one, "_hidden_params", {}).get("model_id") for one in found]
        await asyncio.sleep(0.1)  # callbacks run after the response
    return Counter(served)


def test_traffic_moves_to_the_cheap_deployment_while_the_objective_allows_it():
    router, seen = make_router(), []
    shares = LiteLLMShares(router, "chat", 5.0, requests=20, on_interval=seen.append).attach()
    asyncio.run(send(router, 200))
    assert {interval.requests for interval in seen} == {20}
    assert len(seen) >= 8  # callbacks of the last requests may be on their way
    assert sum(interval.spend for interval in seen) > 0.0
    assert seen[-1].shares["cheap"] > 0.9
    assert seen[-1].shares["fast"] >= 0.03
    shares.detach()


def test_traffic_moves_away_from_a_deployment_that_is_too_slow():
    """Also on a busy machine, where all are slower: the slow one is then still the slowest."""
    router, seen = make_router(deployment("slow", 1.0, 1e-7)), []
    shares = LiteLLMShares(router, "chat", 0.2, requests=20, on_interval=seen.append).attach()
    counts = asyncio.run(send(router, 200))
    assert seen[-1].shares["slow"] < 1 / 5  # equal shares would take 0.36 s on average
    assert min(counts.values()) >= 5
    shares.detach()


def test_a_failing_deployment_loses_its_share_and_one_in_cooldown_is_not_chosen():
    router, seen = make_router(), []
    router.cooldown_time = 60
    LiteLLMShares(router, "chat", 1.0, requests=10, on_interval=seen.append).attach()
    cheap = router.model_list[0]["litellm_params"]
    cheap["mock_response"] = "litellm.RateLimitError"  # LiteLLM puts it into cooldown
    counts = asyncio.run(send(router, 80, at_once=10))
    assert counts["fast"] >= 70
    assert seen[-1].shares["cheap"] < 0.5
    assert seen[-1].unobserved == ("cheap",)


def test_a_wrong_request_is_nobodys_failure():
    router = make_router()
    shares = LiteLLMShares(router, "chat", 1.0, requests=1000).attach()
    wrong = litellm.BadRequestError("no", model="cheap", llm_provider="openai")
    asyncio.run(send(router, 4, at_once=4, mock_response=wrong))
    assert shares.shares.requests == 0


def test_synchronous_calls_are_drawn_by_weights_and_reported():
    router = make_router()
    shares = LiteLLMShares(router, "chat", 5.0, requests=10).attach()
    weights = [one["litellm_params"]["weight"] for one in router.model_list]
    assert weights == [500, 500]
    for _ in range(3):
        router.completion(model="chat", messages=MESSAGES)
    asyncio.run(asyncio.sleep(0.3))
    assert shares.shares.requests == 3


def test_two_models_of_one_router_have_shares_each():
    more = [deployment("left", 0.0, 1e-6, "embed"), deployment("right", 0.0, 2e-6, "embed")]
    router = make_router(*more)
    chat = LiteLLMShares(router, "chat", 5.0, requests=1000).attach()
    embed = LiteLLMShares(router, "embed", 5.0, requests=1000).attach()

    async def both():
        for model in ("chat", "embed", "embed"):
            await router.acompletion(model=model, messages=MESSAGES)
        await asyncio.sleep(0.2)

    asyncio.run(both())
    assert (chat.shares.requests, embed.shares.requests) == (1, 2)


def test_other_models_are_left_to_the_router_and_detach_gives_it_back():
    router = make_router(deployment("other", 0.0, 1e-6, group="embed"))
    before = router.async_get_available_deployment
    shares = LiteLLMShares(router, "chat", 5.0, seconds=60.0).attach()
    assert router.async_get_available_deployment != before
    found = asyncio.run(router.acompletion(model="embed", messages=MESSAGES))
    assert found._hidden_params["model_id"] == "other"
    with pytest.raises(RuntimeError, match="attached already"):
        shares.attach()
    shares.detach()
    assert router.async_get_available_deployment == before
    assert asyncio.run(send(router, 20)).total() == 20
    assert shares.shares.requests == 0


def test_a_deployment_that_is_added_begins_the_shares_anew():
    router = make_router()
    shares = LiteLLMShares(router, "chat", 5.0, requests=1000).attach()
    router.add_deployment(litellm.types.router.Deployment(**deployment("new", 0.0, 2e-6)))
    counts = asyncio.run(send(router, 20))
    assert counts.keys() == {"cheap", "fast", "new"}
    assert shares.shares.names == ("cheap", "fast", "new")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "give exactly one of both"),
        ({"requests": 5, "seconds": 5.0}, "give exactly one of both"),
        ({"requests": 5, "model": "chart"}, "'chart' has 0 deployments"),
        ({"requests": 5, "strategy": "least-busy"}, "must have routing_strategy='simple-shuffle'"),
        ({"requests": 5, "more": ["no price"]}, "'no price' of 'chat' has no price"),
    ],
)
def test_wrong_arguments_get_a_sentence(given, sentence):
    router = make_router(strategy=given.pop("strategy", "simple-shuffle"))
    for name in given.pop("more", ()):
        free = deployment(name, 0.0, None)
        router.add_deployment(litellm.types.router.Deployment(**free))
    with pytest.raises(ValueError, match=re.escape(sentence)):
        LiteLLMShares(router, given.pop("model", "chat"), 1.0, **given)
