"""`python -m residual_stream` is `residual-stream`."""

import sys

from residual_stream.cli import main

sys.exit(main())
