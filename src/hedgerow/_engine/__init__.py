"""The engine: all that touches numba. It compiles kernels, links them and keeps them on disk.

`kernel.py` has the decorator, `table.py` and `pointer.py` what Python hands to kernels, `simd.py`
eight numbers at a time. `compiler.py`, `passes.py`, `reference_counts.py`, `callee.py` and `link.py` know
the inner workings of the versions of numba that `kernel.py` names; another version compiles kernels
by itself.
"""
