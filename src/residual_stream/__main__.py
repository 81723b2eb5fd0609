"""`python -m residual_stream` is `residual-stream`."""

import sys

from residual_stream.cli.main import main

sys.exit(main())
