"""
At most one violated round in a hundred
=======================================

A service level allows a share of bad rounds, and says nothing of their size. A margin that rises
after a violated round and falls after others finds that share.
"""

# %%
# Four policies split a budget over options whose loads are noisy. Three of them have a target.
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

problem = hr.problems.IidSimplex(horizon=4000, seed=1)
options = problem.decision_set
targets = {"10 %": 0.1, "1 %": 0.01, "0.1 %": 0.001}
policies = {"no target": hr.projection_free_coco(options)}
for name, share in targets.items():
    policies[name] = hr.policies.ViolatedShare(hr.projection_free_coco(options), share)
traces = {name: hr.simulate(policy, problem) for name, policy in policies.items()}

# %%
# Without a target the policy follows the limit closely, and every third round is a little above
# it. Fewer violated rounds cost more. The first violations cannot be avoided, so a small share is
# reached late.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
rounds = np.arange(1, problem.horizon + 1)
for i, (name, trace) in enumerate(traces.items()):
    violated = np.cumsum(trace.violations > 0.0) / rounds
    left.plot(rounds, 100.0 * violated, color=f"C{i}", label=name)
    if name in targets:
        left.axhline(100.0 * targets[name], color=f"C{i}", linestyle="--", linewidth=0.8)
    means = np.cumsum(trace.costs) / rounds
    right.plot(rounds[100:], means[100:], color=f"C{i}", label=name)
left.set(title="Violated rounds", xlabel="round", ylabel="share so far, %", yscale="log")
left.legend(fontsize=7, title="target", title_fontsize=7)
right.set(title="Cost", xlabel="round", ylabel="mean cost so far")
plt.show()

# %%
# The summary says what was reached.
print(policies["1 %"].summary())
