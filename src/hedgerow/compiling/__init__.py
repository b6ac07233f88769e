"""How numba compiles kernels: by what they need, in one piece, kept on disk.

`hedgerow.kernels.jit` is the way in. What is here knows the insides of the versions of numba that
it names; another version compiles kernels by itself.
"""
