"""
Low-rank matrices
=================

Ratings of users for films come in one batch a round, and a matrix of low rank has to predict
them. The promise to one group of films: their predictions are not too low in the mean. The set is
a ball of the nuclear norm, whose projection takes a whole singular value decomposition. The
oracle takes one pair of singular vectors.
"""

# %%
# The cost of a round is half the mean squared error of its batch, an object with a value and a
# gradient.
import matplotlib.pyplot as plt
import numpy as np

import hedgerow as hr

USERS, FILMS, BATCH = 40, 30, 60
rng = np.random.default_rng(5)
truth = rng.standard_normal((USERS, 2)) @ rng.standard_normal((2, FILMS))
ball = hr.sets.NuclearBall(USERS, FILMS, radius=float(np.linalg.norm(truth, "nuc")))


class BatchError:
    """Half the mean squared error on some entries."""

    def __init__(self, entries, ratings):
        self.entries, self.ratings = entries, ratings

    def __call__(self, x):
        """Return the error of the matrix x, as one vector."""
        return float(0.5 * np.mean((x[self.entries] - self.ratings) ** 2))

    def grad(self, x):
        """Return its gradient."""
        gradient = np.zeros(x.size)
        gradient[self.entries] = (x[self.entries] - self.ratings) / self.ratings.size
        return gradient


promised = np.zeros((USERS, FILMS))
promised[:, :5] = -1.0 / (5 * USERS)
rounds = []
for _ in range(400):
    entries = rng.choice(truth.size, BATCH, replace=False)
    ratings = truth.ravel()[entries] + 0.1 * rng.standard_normal(BATCH)
    least = truth[:, :5].mean() - 0.02
    rounds.append((BatchError(entries, ratings), hr.Linear(promised.ravel(), least)))
steps = list(hr.play(hr.projection_free_coco(ball), hr.RecordedProblem(ball, rounds)))

# %%
# After 400 batches the play is close to the matrix that nobody has seen as a whole.
figure, (left, right, error) = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for axes, matrix, title in (
    (left, truth, "the matrix behind the ratings"),
    (right, steps[-1].x.reshape(USERS, FILMS), "the last play"),
):
    image = axes.imshow(matrix, vmin=-3.0, vmax=3.0, cmap="PuOr", aspect="auto")
    axes.set(title=title, xlabel="film", ylabel="user")
figure.colorbar(image, ax=right, label="rating")
error.semilogy([np.sqrt(2.0 * step.cost) for step in steps])
error.set(title="Error on the next batch", xlabel="round", ylabel="root mean square, in ratings")
plt.show()
