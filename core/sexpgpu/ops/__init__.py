"""The operators, by family. Importing the package fills the table `OPS`.

`table.py` says what a row is, `call.py` what a rule may ask of its arguments, `checks.py` what several rules check. The rest are
rows: `elementwise` (arithmetic, comparison, logic), `reductions`, `creation`, `shaping` (axes, joins), `cuts` (parts, borders),
`indexing` (take, scatter, sort), `linear` (products), `neural` (losses, attention, convolution) and `random` (draws).
"""

from sexpgpu.ops import creation, cuts, elementwise, indexing, linear, neural, random, reductions, shaping
from sexpgpu.ops.table import OPS, Op

__all__ = ["OPS", "Op", "creation", "cuts", "elementwise", "indexing", "linear", "neural", "random", "reductions", "shaping"]
