"""The compiled loop: it calls the kernels of which the objects are handles, round after round."""
