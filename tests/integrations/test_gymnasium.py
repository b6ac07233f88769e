"""Problems as Gymnasium environments, policies as agents and agents as policies."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import hedgerow as hr
from hedgerow.integrations import AgentPolicy, DecisionSpace, PolicyAgent, ProblemEnv

UNBOUNDED = "A Box observation space m"  # gradients of any problem have no bounds


def drawn(seed):
    return hr.problems.IidSimplex(n=4, horizon=30, seed=seed)


ENVIRONMENTS = {
    "one problem": drawn(0),
    "a problem per seed": drawn,
    "adaptive": hr.problems.HardBox(n=3, halfspaces=4, horizon=20, seed=1),
    "paths": hr.ShortestPath.random_network(nodes=8, edges=16, horizon=20, seed=0),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_gymnasiums_own_checks_pass(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(ProblemEnv(ENVIRONMENTS[name]), skip_render_check=True)
    assert [w for w in map(str, (c.message for c in caught)) if UNBOUNDED not in w] == []


@pytest.mark.parametrize("name", ["one problem", "adaptive", "paths"])
def test_a_policy_decides_in_an_environment_as_in_a_simulation(name):
    problem = ENVIRONMENTS[name]
    trace = hr.simulate(hr.projection_free_coco(problem.decision_set), problem)
    env, agent = ProblemEnv(problem), PolicyAgent(hr.projection_free_coco(problem.decision_set))
    observation, _ = env.reset(seed=3)
    costs, violations, truncated = [], [], False
    while not truncated:
        observation, reward, terminated, truncated, info = env.step(agent(observation))
        assert not terminated
        costs.append(info["cost"])
        violations.append(info["violation"])
        assert reward == -info["cost"]
    np.testing.assert_array_equal(costs, trace.costs)
    np.testing.assert_array_equal(violations, np.maximum(trace.violations, 0.0))
    with pytest.raises(RuntimeError, match="the game is over"):
        env.step(agent(observation))


def test_an_agent_decides_in_a_simulation_as_in_an_environment():
    problem, X = drawn(5), drawn(5).decision_set

    def act(observation):  # the cheapest vertex of the last round, mixed with the start
        return 0.5 * X.start() + 0.5 * X.lmo(observation["cost_gradient"])

    trace = hr.simulate(AgentPolicy(X, act), problem)
    env = ProblemEnv(drawn)
    observation, _ = env.reset(seed=5)
    for cost, violation in zip(trace.costs, trace.violations, strict=True):
        observation, reward, *_, info = env.step(act(observation))
        assert -reward == cost
        assert info["each"] == (violation,)
    assert len(trace.costs) == problem.horizon


def test_a_seed_fixes_the_rounds_and_another_changes_them():
    def first(seed, env):
        env.reset(seed=seed)
        return env.step(env.problem.decision_set.start())[0]["cost_gradient"]

    env = ProblemEnv(drawn)
    np.testing.assert_array_equal(first(7, env), first(7, ProblemEnv(drawn)))
    assert not np.array_equal(first(7, env), first(8, env))
    assert not np.array_equal(first(None, env), first(None, env))


@pytest.mark.parametrize(
    "X", [hr.sets.Simplex(5), hr.sets.L2Ball(3), hr.sets.KSubsets(6, 2)], ids=repr
)
def test_samples_are_points_of_the_set(X):
    space = DecisionSpace(X)
    space.seed(0)
    points = np.array([space.sample() for _ in range(50)])
    assert all(space.contains(x) for x in points)
    assert np.linalg.matrix_rank(points - points[0]) == np.linalg.matrix_rank(
        np.array([X.lmo(c) for c in np.random.default_rng(1).standard_normal((99, X.dim))])
        - X.lmo(np.ones(X.dim))
    )
    assert not space.contains(points[0] + 1.0)
    assert not space.contains(points[0][:-1])
    assert not space.contains(np.full(X.dim, np.nan))


def test_what_cannot_be_played_is_refused():
    X = hr.sets.Simplex(4)
    env = ProblemEnv(drawn(0))
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        env.step(X.start())
    env.reset()
    with pytest.raises(ValueError, match="the action lies outside of Simplex"):
        env.step(np.ones(4))
    with pytest.raises(TypeError, match="problem must be a Problem"):
        ProblemEnv(3)
    with pytest.raises(TypeError, match="learns from something else"):
        PolicyAgent(hr.semi_bandit_coco(hr.sets.KSubsets(4, 2), 100, 0))
    with pytest.raises(ValueError, match="action after round 0 lies outside"):
        AgentPolicy(X, lambda _: np.ones(4))
    other = ProblemEnv(lambda seed: hr.problems.IidSimplex(n=3 + seed, horizon=5, seed=seed))
    with pytest.raises(ValueError, match="dimension 5, and the environment has 3"):
        other.reset(seed=2)
    with pytest.raises(ValueError, match="no masks"):
        DecisionSpace(X).sample(mask=np.ones(4))
