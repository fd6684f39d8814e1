"""`python -m sexpgpu` is `sexpgpu`."""

import sys

from sexpgpu.cli import main

sys.exit(main())
