"""A certificate that bounds nothing is not shown as a number."""

import numpy as np

import hedgerow as hr
from hedgerow.feedback import EvalGrad


def test_a_bound_about_no_action_is_not_stored(tmp_path):
    """x_0 <= -0.9 and x_0 >= 0.9 in turn: no fixed action satisfies both."""
    policy = hr.projection_free_coco(hr.sets.L2Ball(2), tracking=False)
    with hr.live.open_session(tmp_path / "a.db", "a", policy) as session:
        for t in range(400):
            decision, c = session.ask(), np.array([1.0 if t % 2 else -1.0, 0.0])
            x, a = decision.action, np.array([0.0, 0.1])
            constraint = EvalGrad(float(c @ x + 0.9), c)
            session.tell(decision.id, EvalGrad(float(a @ x), a), constraint)
        assert session.status().certificate is None
        assert "says nothing here, because no fixed action" in str(session.certificate())
