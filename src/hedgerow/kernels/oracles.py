"""The one signature of all oracles that run inside compiled loops.

`oracle(index, numbers, c, links, scratch, v)` writes a vertex that minimises <c, x> into v. What
it reads of the set is packed in whole numbers `index` and in `numbers`; `links` and `scratch` are
memory to work in. A projection has the same signature, and writes the point nearest to c.
"""

from __future__ import annotations

from typing import Any

from hedgerow._engine.kernel import function, index, kernel, nothing, read, write, write_index

ORACLE = (nothing, index, read, read, write_index, write, write)
oracle_type = function(*ORACLE)


@kernel(*ORACLE)
def no_oracle(index: Any, numbers: Any, c: Any, links: Any, scratch: Any, v: Any) -> None:
    """Stands in a table for an oracle that is never asked."""
