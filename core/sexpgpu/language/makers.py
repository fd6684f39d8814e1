"""Constructors: host functions that describe something for the runtime. One table: what they make, and what their arguments are."""

from __future__ import annotations

from sexpgpu.language.host import host
from sexpgpu.language.signature import parse
from sexpgpu.language.values import List, Made, Value, keyword
from sexpgpu.ops.call import Call
from sexpgpu.reader.forms import Form


def _made(call: Call, group: str, signature_text: str, defaults: dict[str, Value]) -> Made:
    signature = parse(signature_text)
    arguments: dict[str, Value] = {}
    forms: dict[str, Form] = {}
    for name in (*signature.required, *(name for name, _ in signature.optional), *signature.keys):
        if call.supplied(name):
            arguments[name] = call.raw(name)
            forms[name] = call.at(name)
        elif name in defaults:
            arguments[name] = defaults[name]
    if signature.rest is not None:
        arguments[signature.rest] = List(call.raw_rest)
    return Made(group, call.name, arguments, forms, call.form)


def _initializer(call: Call) -> None:
    for name in ("std", "lo", "hi"):
        if call.supplied(name):
            call.number(name)
    if call.supplied("value") and not isinstance(call.value("value"), bool):
        call.number("value")


def _pretrained(call: Call) -> None:
    for name in ("path", "prefix"):
        if call.supplied(name):
            call.string(name)
    if call.given("missing") and call.value("missing") is not keyword("init"):
        raise call.wrong_kind(call.value("missing"), call.at("missing"), ":init as :missing", staged=False)


_CHECKS = {"initializer": _initializer, "pretrained": _pretrained}
"""What the arguments of a group must be; those of the others are checked where they are used."""


def _make(name: str, group: str, signature: str, doc: str, example: str, **defaults: Value) -> None:
    check = _CHECKS.get(group)

    @host(name, signature, group, doc, example, strict=False)
    def _rule(call: Call) -> Value:
        if check is not None:
            check(call)
        return _made(call, group, signature, {key.replace("_", "-"): value for key, value in defaults.items()})


@host("spec", "shape dtype", "data", "The shape and dtype of one record's field.", "(spec [28 28] :f32)")
def _spec(call: Call) -> Value:
    made = _made(call, "spec", "shape dtype", {})
    made.arguments["shape"] = List(call.shape("shape"), vector=True)
    made.arguments["dtype"] = call.dtype("dtype")
    return made


_make(
    "npz",
    "source",
    "path &key (rows nil)",
    "Records of a NumPy archive: one array a field, records along axis 0.",
    '(npz "digits.npz")',
)
_make(
    "tokens",
    "source",
    "path &key (dtype :u16) (field :tokens) (rows nil)",
    "A flat file of tokens, cut into records of the field's length.",
    '(tokens "text.bin" :dtype :u16 :field :tokens)',
    dtype=keyword("u16"),
    field=keyword("tokens"),
)
_make(
    "jsonl",
    "source",
    "path &key (pad 0) (rows nil)",
    "One JSON object a line; a record shorter than its field is padded.",
    '(jsonl "rows.jsonl")',
    pad=0,
)
_make(
    "parquet",
    "source",
    "path &key (pad 0) (rows nil)",
    "Rows of a Parquet file; a record shorter than its field is padded.",
    '(parquet "rows.parquet")',
    pad=0,
)
_make(
    "synthetic",
    "source",
    "count function",
    "Records that a function of the index makes; needs no file.",
    "(synthetic 64 (lambda (index) (list :x (cast index :f32))))",
)
_make(
    "mix",
    "source",
    "&rest sources",
    "Records of several sources by weight: (list source weight) for each.",
    '(mix (list (npz "a.npz") 2) (list (npz "b.npz") 1))',
)
_make(
    "pretrained",
    "pretrained",
    'path &key (prefix "") (missing nil)',
    "Parameters of a safetensors file.",
    '(pretrained "base.safetensors" :prefix "student")',
    prefix="",
)
_make("init-zeros", "initializer", "", "Zeros.", "(init-zeros)")
_make("init-ones", "initializer", "", "Ones.", "(init-ones)")
_make("init-constant", "initializer", "value", "One value everywhere.", "(init-constant 0.5)")
_make("init-normal", "initializer", "&key (std 0.02)", "Normal draws of mean 0.", "(init-normal :std 0.02)", std=0.02)
_make("init-uniform", "initializer", "lo hi", "Uniform draws.", "(init-uniform -0.1 0.1)")
_make("init-lecun", "initializer", "", "Normal draws of variance 1 / fan-in, truncated at two deviations.", "(init-lecun)")
_make("init-glorot", "initializer", "", "Uniform draws of variance 2 / (fan-in + fan-out).", "(init-glorot)")
_make("init-he", "initializer", "", "Normal draws of variance 2 / fan-in, truncated at two deviations.", "(init-he)")
_make(
    "sgd",
    "optimizer",
    "&key lr (momentum 0.0) (nesterov false) (weight-decay 0.0)",
    "Gradient descent.",
    "(sgd :lr 0.1 :momentum 0.9)",
    momentum=0.0,
    nesterov=False,
    weight_decay=0.0,
)
_make("adam", "optimizer", "&key lr (b1 0.9) (b2 0.999) (eps 1e-8)", "Adam.", "(adam :lr 0.001)", b1=0.9, b2=0.999, eps=1e-8)
_make(
    "adamw",
    "optimizer",
    "&key lr (b1 0.9) (b2 0.999) (eps 1e-8) (weight-decay 1e-4) (mask nil)",
    "Adam with decoupled weight decay.",
    "(adamw :lr 0.001 :weight-decay 0.1)",
    b1=0.9,
    b2=0.999,
    eps=1e-8,
    weight_decay=1e-4,
)
_make(
    "lion",
    "optimizer",
    "&key lr (b1 0.9) (b2 0.99) (weight-decay 1e-3)",
    "Lion: the sign of a momentum.",
    "(lion :lr 0.0001)",
    b1=0.9,
    b2=0.99,
    weight_decay=1e-3,
)
_make("adafactor", "optimizer", "&key lr", "Adafactor: second moments by rows and columns.", "(adafactor :lr 0.01)")
_make(
    "muon",
    "optimizer",
    "&key lr (ns-steps 5) (beta 0.95) (eps 1e-8) (weight-decay 0.0) (nesterov true) (adam-b1 0.9) (adam-b2 0.999)",
    "Muon: orthogonal updates of matrices, Adam for the rest.",
    "(muon :lr 0.02)",
    ns_steps=5,
    beta=0.95,
    eps=1e-8,
    weight_decay=0.0,
    nesterov=True,
    adam_b1=0.9,
    adam_b2=0.999,
)
