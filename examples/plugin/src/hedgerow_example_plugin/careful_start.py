"""A method: the paper's policy, with more eagerness where there are few rounds to learn in."""

from hedgerow import projection_free_coco
from hedgerow.baselines import baseline


@baseline(
    source="this example",
    regret="no rate claimed",
    ccv="no rate claimed",
    per_round="1 linear minimisation",
    needs="known T",
    confidence="high",
    remark="an example",
)
def careful_start(decision_set, horizon, *, eagerness=1.0):
    """Algorithm 2 whose eagerness is 1 + 100/T times what it would be."""
    return projection_free_coco(decision_set, eagerness=eagerness * (1.0 + 100.0 / horizon))
