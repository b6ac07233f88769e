"""The one signature of all oracles that run inside compiled loops.

`oracle(index, numbers, c, links, scratch, v)` writes a vertex that minimises <c, x> into v. What
it reads of the set is packed in whole numbers `index` and in `numbers`; `links` and `scratch` are
memory to work in. A projection has the same signature, and writes the point nearest to c.
"""

from __future__ import annotations

from hedgerow.kernels.jit import function, index, nothing, read, write, write_index

ORACLE = (nothing, index, read, read, write_index, write, write)
oracle_type = function(*ORACLE)
