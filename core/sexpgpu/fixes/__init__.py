"""Changes to a file: what mends a diagnostic, and what rewrites a part of it that has none.

A `Proposal` is a change that was thought of, as edits at forms; `finished` makes it what is to be done to the text, laid out as the
formatter would. For each code the modules below enter what they propose in one table (`table`): `reading` for text that does not
read, `naming` and `calls` for names, calls and forms, `dtypes` for what has the wrong kind, dtype or shape, `declarations` and
`parts` for the keys of declarations and the parts of a run, `contracts` for what the runtime is handed, `layers` for parameters,
`draws`, `salting`, `generation` and `reports` for what runs in the step, `ignoring` for comments that silence. `rewrites` are
offered where nothing is wrong.

`offers` is what an editor shows at a place, and `everything` the text with all that is safe done to it, for an editor and for
`sexpgpu check --fix` alike. `spots` finds forms, `edits` writes, `compose` joins edits that follow each other.
"""

from sexpgpu.fixes.everything import fixed
from sexpgpu.fixes.finish import finished
from sexpgpu.fixes.offers import Offer, offers, rewrites_at, with_fixes
from sexpgpu.fixes.proposal import Proposal
from sexpgpu.fixes.table import proposals

__all__ = ["Offer", "Proposal", "finished", "fixed", "offers", "proposals", "rewrites_at", "with_fixes"]
