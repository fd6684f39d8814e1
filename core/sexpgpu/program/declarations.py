"""The declarations as one table: which keys each takes, what kind of value a key wants, its default, what it means.

Checking, hover and completion read it. The kinds are checked in `keys.py`.
"""

from __future__ import annotations

from typing import NamedTuple

from sexpgpu.language.values import NIL, List, Value, keyword


class Key(NamedTuple):
    """One key: the `kind` of value it wants, the value it has where it is not written, and its documentation.

    A key without a default and not `required` may stay away (`:prepare` of a pass, `:stages` beside `:source`).
    """

    name: str
    kind: str
    doc: str
    default: Value | None = None
    required: bool = False


class Declaration(NamedTuple):
    """A top-level form that declares a part of the run; `named` tells whether a name follows its head (None: it may), and `either`
    are keys of which it has one alone."""

    head: str
    named: bool | None
    doc: str
    keys: dict[str, Key]
    either: tuple[str, ...] = ()

    def settled(self, written: set[str]) -> set[str]:
        """The keys that nobody would write any more: those that are written, and those that these exclude."""
        return written if written.isdisjoint(self.either) else {*written, *self.either}


def _declaration(head: str, named: bool | None, doc: str, *keys: Key, either: tuple[str, ...] = ()) -> Declaration:
    return Declaration(head, named, doc, {key.name: key for key in keys}, either)


DECLARATIONS: dict[str, Declaration] = {
    declaration.head: declaration
    for declaration in (
        _declaration(
            "defrun",
            None,
            "The run: how many steps, on which loader, and how it is watched and bounded.",
            Key("steps", "positive", "optimizer steps", required=True),
            Key("loader", "loader", "the training loader; needed where there are several"),
            Key("microbatches", "positive", "microbatches a step; their gradients are averaged", 1),
            Key("stack", "stack", "how many microbatches one device call holds: a divisor of :microbatches, or :auto", 1),
            Key("seed", "integer", "what parameters, order and draws are made from", 0),
            Key("precision", "precision", "the float that models compute in: :f32 or :bf16", keyword("f32")),
            Key("report-every", "positive", "steps between training metrics", 10),
            Key("checkpoint-every", "count", "steps between checkpoints; 0: only at the end and on a stop", 0),
            Key("keep", "positive", "how many of the newest checkpoints are kept", 3),
            Key(
                "keep-best",
                "best",
                'keep the best checkpoint too, by a pass\'s metric: "eval/loss", or (list "eval/accuracy" :max)',
                NIL,
            ),
            Key("diagnostics", "names", "the diagnostics that are sampled, by name", List((), vector=True)),
            Key("diagnostics-every", "positive", "steps between samples of diagnostics", 100),
            Key("clip", "positive-number", "the largest global norm of the gradient", NIL),
            Key("ema", "decay", "the decay of a running average of the parameters, which `ema` reads", NIL),
            Key("stop-when", "function", "a function of ctx and observations that ends the run when it gives true", NIL),
            Key("memory", "positive-number", "the budget of device memory, in GiB", NIL),
            Key("mesh", "mesh", "the device axes: :data splits the batch, :fsdp shards parameters too; -1 takes what is left", NIL),
            Key("on-nan", "on-nan", "what a loss that is not finite does: :stop, :skip the update, or :ignore it", keyword("stop")),
        ),
        _declaration(
            "defloader",
            True,
            "Where records come from, and what one record holds.",
            Key("batch", "positive", "rows a microbatch", required=True),
            Key("fields", "fields", "one record's fields: (list :name (spec shape dtype) …)", required=True),
            Key("source", "source", "where the records come from: npz, tokens, jsonl, parquet, synthetic or mix"),
            Key("stages", "stages", "a list of sources, one for each stage of a curriculum"),
            Key("shuffle", "boolean", "another order in every epoch", True),
            Key("repeat", "boolean", "begin again at the end of an epoch", True),
            either=("source", "stages"),
        ),
        _declaration(
            "defgenerate",
            False,
            "Makes records on the device, in every step, before the training graph reads them.",
            Key("trips", "trips", "how many times :step runs", required=True),
            Key("init", "function", "(lambda (batch ctx) …) → the state, a plist of tensors", required=True),
            Key(
                "step",
                "function",
                "(lambda (state trip ctx) …) → the next state, with the same keys, shapes and dtypes",
                required=True,
            ),
            Key(
                "finish",
                "function",
                "(lambda (state ctx) …) → the plist of tensors that joins the batch; the last state without one",
            ),
        ),
        _declaration(
            "defpass",
            True,
            "An evaluation pass: what it reports, the curriculum reads.",
            Key("loader", "loader", "whose records it runs on", required=True),
            Key("every", "positive", "steps between two runs of the pass", required=True),
            Key("batches", "positive", "how many batches; one epoch without it"),
            Key("prepare", "function", "instead of the file's `prepare`"),
            Key("objective", "function", "instead of the file's `objective`; only its metrics count"),
        ),
        _declaration(
            "defoptimizer",
            False,
            "The optimizer: one of the library, or one of your own by :init and :update.",
            Key("init", "function", "(lambda (param) …) → the state of one parameter, a plist of tensors", required=True),
            Key("update", "function", "(lambda (param grad state ctx) …) → (list :param … :state …)", required=True),
        ),
        _declaration(
            "defmodel",
            True,
            "A function that owns parameters.",
            Key("frozen", "boolean", "no gradient and no optimizer state", False),
            Key("pretrained", "pretrained", 'parameters come from a file: "base.safetensors", or (pretrained …)', NIL),
        ),
    )
}
