"""ctx as a table: the run's progress, which the runtime hands to every contract function as a plist of scalar tensors."""

from __future__ import annotations

from typing import NamedTuple

from sexpgpu.language.dtypes import F32, I64, DType


class CtxKey(NamedTuple):
    """A builtin key. `moves` says that it changes between the microbatches of a step, so that a read keeps the run unstacked."""

    name: str
    dtype: DType
    doc: str
    moves: bool = False


CTX: dict[str, CtxKey] = {
    key.name: key
    for key in (
        CtxKey("step", I64, "optimizer steps completed"),
        CtxKey("steps", I64, "how many steps the run takes in all: `defrun :steps`"),
        CtxKey("microbatch", I64, "which microbatch of the step this is, from 0", moves=True),
        CtxKey("records", I64, "records that the training loader has given so far", moves=True),
        CtxKey("progress", F32, "the part of the run that is done: `:step` / `:steps`"),
        CtxKey("stage", I64, "the curriculum's stage, from 0"),
        CtxKey("stage-steps", I64, "steps since the stage began"),
        CtxKey("stage-records", I64, "records since the stage began", moves=True),
    )
}


def counter_keys(counter: str) -> tuple[str, str]:
    """The two ctx keys of a counter: for the whole run, and since the stage began."""
    return counter, f"stage-{counter}"
