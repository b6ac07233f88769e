"""LiteLLM's router: traffic among the deployments of a model, by cost under a latency objective."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from hedgerow.inputs import as_count, as_positive
from hedgerow.integrations.interval_shares import Interval, IntervalShares, MakePolicy
from hedgerow.policies.paper import projection_free_coco

TOTAL_WEIGHT = 1000
"""What the plain weights of the deployments sum to."""
METHODS = "get_available_deployment", "async_get_available_deployment"


class LiteLLMShares:
    """A routing strategy for `litellm.Router`: cheap, with a mean latency of at most an objective.

    After `attach()` the asynchronous calls of the router go to deployments in turn, by their
    shares, out of those that LiteLLM itself finds available: cooldowns, retries, fallbacks and
    limits work as before. The shares are also the plain `weight` of each deployment, by which
    LiteLLM's `simple-shuffle` draws for synchronous calls. LiteLLM's callbacks report latency and
    cost of every request; `IntervalShares` describes the decision after each interval.

    A response from LiteLLM's cache says nothing about a deployment and is left out, and so is a
    request that was itself wrong (`litellm.BadRequestError`). The latency of a stream is the time
    to its end. A deployment that is added to the model later begins the shares anew.

    Args:
        router: a `litellm.Router` with the strategy "simple-shuffle", its default.
        model: the `model_name` that the deployments share.
        objective: the mean latency that is allowed, in seconds.
        requests: how many requests that ended make an interval.
        seconds: how long an interval is instead; give one of both.
        minimum_share: what every deployment gets at least, so that it stays observed.
        failure_latency: what a failed request counts as, in seconds; left out, ten objectives.
        policy: makes the policy on the set of shares.
        on_interval: called with each `Interval`, for example to log it.

    """

    def __init__(
        self,
        router: Any,
        model: str,
        objective: float,
        *,
        requests: int | None = None,
        seconds: float | None = None,
        minimum_share: float = 0.03,
        failure_latency: float | None = None,
        policy: MakePolicy = projection_free_coco,
        on_interval: Callable[[Interval], object] | None = None,
    ):
        if (requests is None) == (seconds is None):
            raise ValueError(
                "an interval is a number of requests or of seconds; give exactly one of both, "
                "such as requests=50"
            )
        if router.routing_strategy != "simple-shuffle":
            raise ValueError(
                "the router must have routing_strategy='simple-shuffle', which reads weights, got "
                f"{router.routing_strategy!r}"
            )
        self.router, self.model = router, model
        self._requests = None if requests is None else as_count(requests, "requests")
        self._seconds = None if seconds is None else as_positive(seconds, "seconds")
        self._on_interval = on_interval
        self._lock = threading.Lock()  # LiteLLM calls back from threads, too
        self._logger: Any = None
        self._replaced: dict[str, Any] = {}

        def make() -> IntervalShares:
            return IntervalShares(
                _prices(router, model),
                objective,
                minimum_share=minimum_share,
                failure_latency=failure_latency,
                policy=policy,
            )

        self._make = make
        self.shares = make()
        self._begin = time.monotonic()

    def attach(self) -> LiteLLMShares:
        """Set the strategy of the router, its weights and the callback; return self."""
        import litellm

        if self._logger is not None:
            raise RuntimeError("these shares are attached already; detach() them first")
        self._replaced = {name: getattr(self.router, name) for name in METHODS}
        self.router.set_custom_routing_strategy(self)
        self._logger = _logger(self)
        litellm.logging_callback_manager.add_litellm_callback(self._logger)
        self._write_weights()
        return self

    def detach(self) -> None:
        """Give the router back the strategy that it had; its weights stay as they are."""
        import litellm

        litellm.logging_callback_manager.remove_callback_from_all_lists(self._logger)
        for name, method in self._replaced.items():
            setattr(self.router, name, method)
        self._logger, self._replaced = None, {}

    async def async_get_available_deployment(
        self,
        model: str,
        messages: Any = None,
        input: Any = None,  # noqa: A002 - LiteLLM's name
        specific_deployment: bool | None = False,
        request_kwargs: Any = None,
    ) -> Any:
        """Choose the deployment of an asynchronous call, in turn; LiteLLM calls this."""
        request = {
            "model": model,
            "messages": messages,
            "input": input,
            "specific_deployment": specific_deployment,
            "request_kwargs": {} if request_kwargs is None else request_kwargs,
        }
        if model != self.model:
            return await self._replaced["async_get_available_deployment"](**request)
        found = await self.router.async_get_healthy_deployments(**request)
        if isinstance(found, dict):  # the request names one
            return found
        by_id = {_id(deployment): deployment for deployment in found}
        with self._lock:
            if not by_id.keys() <= set(self.shares.names):
                self.shares = self._make()
                self._write_weights()
            return by_id[self.shares.pick([*by_id])]

    def get_available_deployment(
        self,
        model: str,
        messages: Any = None,
        input: Any = None,  # noqa: A002 - LiteLLM's name
        specific_deployment: bool | None = False,
        request_kwargs: Any = None,
    ) -> Any:
        """Let the router draw the deployment of a synchronous call, by its weights."""
        draw = self._replaced["get_available_deployment"]
        return draw(model, messages, input, specific_deployment, request_kwargs)

    def ended(self, kwargs: dict[str, Any], response: Any, seconds: float, failed: bool) -> None:
        """Take in a request that ended, as LiteLLM's callbacks describe it."""
        deployment = str((kwargs["litellm_params"].get("model_info") or {}).get("id"))
        with self._lock:
            if deployment not in self.shares.names or kwargs.get("cache_hit"):
                return
            if failed:
                self.shares.observe_failure(deployment, seconds)
            else:
                tokens = getattr(getattr(response, "usage", None), "total_tokens", None) or 1.0
                cost = kwargs.get("response_cost")
                self.shares.observe(deployment, seconds, cost, float(tokens))
            interval = self._decide() if self._is_over() else None
        if interval is not None and self._on_interval is not None:
            self._on_interval(interval)

    def _is_over(self) -> bool:
        if self._requests is not None:
            return self.shares.requests >= self._requests
        return self._seconds is not None and time.monotonic() - self._begin >= self._seconds

    def _decide(self) -> Interval:
        interval = self.shares.decide()
        self._begin = time.monotonic()
        self._write_weights()
        return interval

    def _write_weights(self) -> None:
        """Write the shares into the router's own list of deployments."""
        weights = self.shares.weights(TOTAL_WEIGHT)
        for deployment in _deployments(self.router, self.model):
            deployment["litellm_params"]["weight"] = weights[_id(deployment)]


def _id(deployment: Any) -> str:
    return str(deployment["model_info"]["id"])


def _deployments(router: Any, model: str) -> Sequence[Any]:
    found = [one for one in router.model_list if one["model_name"] == model]
    if len(found) < 2:
        names = sorted({one["model_name"] for one in router.model_list})
        raise ValueError(
            f"{model!r} has {len(found)} deployments, and sharing needs at least 2; this router "
            f"has {', '.join(names)}"
        )
    return found


def _prices(router: Any, model: str) -> dict[str, float]:
    """Return the declared price per token of each deployment, the mean of input and output."""
    import litellm

    prices = {}
    for deployment in _deployments(router, model):
        params, name = deployment["litellm_params"], _id(deployment)
        known = litellm.model_cost.get(params["model"], {}) | litellm.model_cost.get(name, {})
        known = known | {key: value for key, value in params.items() if value is not None}
        both = [known.get(f"{part}_cost_per_token") for part in ("input", "output")]
        if None in both:
            raise ValueError(
                f"the deployment {name!r} of {model!r} has no price; give input_cost_per_token and "
                "output_cost_per_token in its litellm_params"
            )
        prices[name] = sum(map(float, both)) / 2.0
    return prices


def _logger(shares: LiteLLMShares) -> Any:
    """Return LiteLLM's callback object; it needs LiteLLM's class, which may not be installed."""
    import litellm
    from litellm.integrations.custom_logger import CustomLogger

    class Feedback(CustomLogger):  # type: ignore[misc]
        """Reports every request that ended."""

        def __init__(self) -> None:
            super().__init__()
            self.shares = id(shares)  # LiteLLM keeps one of those that have equal numbers

        def log_success_event(
            self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
        ) -> None:
            """Report a request that was served."""
            shares.ended(kwargs, response_obj, (end_time - start_time).total_seconds(), False)

        def log_failure_event(
            self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
        ) -> None:
            """Report a request that failed, unless it was itself wrong."""
            if not isinstance(kwargs.get("exception"), litellm.BadRequestError):
                shares.ended(kwargs, response_obj, (end_time - start_time).total_seconds(), True)

        async def async_log_success_event(
            self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
        ) -> None:
            """Report a request that was served."""
            self.log_success_event(kwargs, response_obj, start_time, end_time)

        async def async_log_failure_event(
            self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
        ) -> None:
            """Report a request that failed."""
            self.log_failure_event(kwargs, response_obj, start_time, end_time)

    return Feedback()
