"""The engine: all that touches numba. It compiles kernels, links them and keeps them on disk.

`kernel.py` has the decorator, `table.py` and `pointer.py` the arguments that Python passes to
kernels, `simd.py` eight numbers at a time. `compiler.py`, `passes.py`, `reference_counts.py`,
`callee.py` and `link.py` know the inner workings of the versions of numba that `kernel.py` names;
another version compiles kernels by itself. Without `passes.py` and `reference_counts.py` the first
call takes a third longer, and a round on a small set up to twice as long.
"""
