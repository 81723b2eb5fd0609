"""The Transformer block and everything that is computed of it, in NumPy alone."""
