"""The calls of `residual-stream`."""

from residual_stream.cli.main import main

__all__ = ["main"]
