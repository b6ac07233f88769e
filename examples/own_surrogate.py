"""A surrogate of your own: three kernels that update the queue, played by the compiled loop."""

import math

import hedgerow as hr
from hedgerow.extending import (
    LEARNT_FROM,
    NEEDS_GRADIENT,
    OBSERVE,
    RECORD,
    ROUND,
    START,
    UNSEEN,
    VIOLATION,
    GradientSurrogate,
    kernel,
    learn,
    store_weight,
    violation_unit,
)


@kernel(*NEEDS_GRADIENT)
def needs_gradient(queue, units, value):
    """Only a violation counts."""
    return LEARNT_FROM if value > 0.0 else UNSEEN


@kernel(*OBSERVE)
def observe(queue, ranges, units, value, sizes):
    """Set Q(t) = 0.99 Q(t-1) + g_t^+; return the length to weigh, or NaN for no weight."""
    queue[ROUND] += 1.0  # every `observe` must count the round
    learn(ranges, units, value, needs_gradient(queue, units, value), sizes)  # and learn the units
    queue[VIOLATION] = 0.99 * queue[VIOLATION] + max(0.0, value)
    if value <= 0.0:
        return math.nan
    return units[START] + queue[VIOLATION] / violation_unit(ranges, units)


@kernel(*RECORD)
def record(queue, ranges, units, value, weight):
    """The loss is f_t + weight g_t^+; `store_weight` remembers what the constraint added to it."""
    store_weight(queue, weight, max(0.0, value))  # every `record` must call this


class ForgetfulSurrogate(GradientSurrogate):
    """A queue that forgets."""

    needs_gradient, observe, record = needs_gradient, observe, record


problem = hr.ShortestPath.random_network(nodes=60, edges=300, horizon=800, seed=1)
learner = hr.learners.AdaptiveOCG(problem.decision_set, hr.learners.steps.CertificateSteps())
ranges = hr.surrogates.WorstCaseRanges(learner)
surrogate = ForgetfulSurrogate(hr.surrogates.PowerPotential(p=2.0, scale=3.0), 0.0, ranges)
trace = hr.simulate(hr.ConstrainedPolicy(learner, surrogate), problem)
print(f"played by the compiled loop: {trace.compiled}; cost {trace.cost:.0f}, CCV {trace.ccv:.0f}")
