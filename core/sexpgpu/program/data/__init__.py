"""Data files, as far as a checker looks: are they there, do their headers hold what is asked of them, how many records are there.

`arguments` checks what a source is given, `headers` reads the headers of the formats, `sources` holds a source against its loader's
fields, `pretrained` a parameter file against the parameters. Nothing here reads more of a file than its header says it must.
"""

from sexpgpu.program.data.pretrained import check_pretrained
from sexpgpu.program.data.sources import check_source, epoch_length, row_range

__all__ = ["check_pretrained", "check_source", "epoch_length", "row_range"]
