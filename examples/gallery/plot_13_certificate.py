"""
The certificate against hindsight
=================================

After a run the policy has a certificate: a bound of its regret, computed from what it saw. No
constant and no knowledge of the best action is needed. Hindsight is the true regret, which takes
all rounds and a linear programme. Here both are shown after 100, 200, ... rounds.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

problem = hr.problems.IidSimplex(n=8, horizon=1600, seed=1)
policy = hr.projection_free_coco(problem.decision_set)
ends = [100, 200, 400, 800, 1600]
certified, costs = [], []
for step in hr.play(policy, problem):
    costs.append(step.cost)
    if step.t in ends:
        certified.append(policy.certificate())
paid = np.cumsum(costs)
regret = [paid[end - 1] - hr.hindsight(problem, interval=(1, end)).cost for end in ends]

# %%
# The true regret is always below the certificate, which falls by the round.
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
rounds = np.array(ends)
axes.plot(rounds, np.array(certified) / rounds, "o-", label="certificate: known during the run")
axes.plot(rounds, np.array(regret) / rounds, "o-", label="regret: known in hindsight")
axes.axhline(0.0, color="0.5", linewidth=0.8)
axes.set(
    xlabel="rounds",
    ylabel="cost of a round over the best fixed action",
    xscale="log",
    title="What the run proves, and what is true",
    xticks=ends,
    xticklabels=[str(end) for end in ends],
)
axes.minorticks_off()
axes.legend()
plt.show()
