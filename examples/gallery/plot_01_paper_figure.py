"""
The paper's figure in one screen
================================

Traffic goes over a network whose delays and bandwidths are seen only after it was sent. Each
round must carry a given bandwidth; the delay should be small. Three policies play the same
rounds.
"""

# %%
# The network is drawn by the paper's recipe: a hub, 119 spokes and random links between them.
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

problem = hr.ShortestPath.random_network(nodes=120, edges=700, horizon=1200, seed=0)
paths = problem.decision_set
policies = {
    "Hedgerow: one shortest path a round": hr.projection_free_coco(paths),
    "Sinha and Vaze 2024: one projection per round": hr.baselines.sinha_vaze_2024(paths),
    "no constraint": hr.unconstrained(paths),
}
traces = {name: hr.simulate(policy, problem) for name, policy in policies.items()}
best = hr.hindsight(problem)

# %%
# The dashed line is the best fixed route that satisfies every round, which nobody can know
# beforehand. Play without the constraint is far quicker, because it does not deliver the
# bandwidth: the right picture shows what it owes. Both numbers belong together.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
rounds = np.arange(1, problem.horizon + 1)
for name, trace in traces.items():
    left.plot(rounds, np.cumsum(trace.costs) / rounds, label=name)
    owed = np.maximum(trace.violations, 0.0)
    right.plot(rounds, np.cumsum(owed) / (problem.threshold * rounds) * 100.0, label=name)
left.axhline(best.cost / problem.horizon, color="0.3", linestyle="--", label="best fixed route")
left.set(title="Cost", xlabel="round", ylabel="mean delay so far, ms", ylim=(0.0, None))
left.legend(fontsize=7)
right.set(title="Violation", xlabel="round", ylabel="missing bandwidth so far, %", yscale="log")
plt.show()

# %%
# The certificate is computed from what the policy saw. It is never below the regret.
policy = policies["Hedgerow: one shortest path a round"]
regret = traces["Hedgerow: one shortest path a round"].regret(best)
print(f"regret {regret:.0f} ms, certificate {policy.certificate():.0f} ms")
