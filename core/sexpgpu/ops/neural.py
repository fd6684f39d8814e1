"""Rows of the operator table: softmax and losses, attention, convolution and pooling.

Softmax, losses and sums run in f32 where the operands are half floats (language §8). An optional tensor that was given is a further
input of the node, in the order of the signature, and the attribute of its name is true.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sexpgpu.diagnostics import rules
from sexpgpu.graph.nodes import Node
from sexpgpu.language.dtypes import F32
from sexpgpu.language.values import Keyword, List, Value, keyword
from sexpgpu.ops.call import Call, boolean, bracketed, floating, integral, item_forms, known, numeric
from sexpgpu.ops.checks import broadcasts_to
from sexpgpu.ops.table import op
from sexpgpu.reader.forms import Form


def _softmax(call: Call) -> Value:
    x = call.tensor("x", floating)
    return call.emit([x], x.shape, x.dtype, axis=call.axis("axis", len(x.shape), -1, of="x"))


op(
    "softmax",
    "x &key (axis -1)",
    "neural",
    "exp(x) divided by its sum along the axis: weights that add up to 1. Computed in f32 and stable for large numbers.",
    "(softmax (ones [2 3]))",
    residuals="output",
)(_softmax)

op(
    "log-softmax",
    "x &key (axis -1)",
    "neural",
    "The logarithm of `softmax`, without the loss of precision that taking it afterwards has.",
    "(log-softmax (ones [2 3]))",
    residuals="output",
)(_softmax)


# Losses


@op(
    "cross-entropy",
    "logits labels &key (weights nil) (ignore nil) (smoothing 0.0)",
    "neural",
    "The negative log likelihood of each label under softmax of the logits' last axis: logits `[… c]`, integer labels `[…]`, "
    "result `:f32` `[…]`. `:weights` multiplies it (a float tensor that broadcasts to the labels), it is 0 where the label is "
    "`:ignore`, and `:smoothing s` mixes the label with the uniform distribution, 1 - s to s. A label that is no class gives nan.",
    "(mean (cross-entropy (ones [4 10]) (zeros [4] :i32) :ignore -1))",
)
def cross_entropy(call: Call) -> Value:
    logits = call.tensor("logits", floating)
    labels = call.tensor("labels", integral)
    if not logits.shape or not logits.shape[-1]:
        message = f"`cross-entropy` needs logits with a last axis of classes, and this is {bracketed(logits.shape)}"
        raise call.fault(rules.SHAPE_OPERATOR, "logits", message, "the last axis holds one logit for each class")
    if labels.shape != logits.shape[:-1]:
        message = f"`cross-entropy` of logits {bracketed(logits.shape)} takes labels {bracketed(logits.shape[:-1])}"
        help = "labels are class numbers: one for each row of logits, without the axis of classes"
        raise call.fault(rules.SHAPE_OPERATOR, "labels", f"{message}, and this is {bracketed(labels.shape)}", help)
    ignore = call.integer("ignore") if call.given("ignore") else None
    if ignore is not None and not labels.dtype.fits(ignore):
        message = f"the labels are {labels.dtype!r} ({labels.dtype.least} to {labels.dtype.most}), so none of them can be {ignore}"
        raise call.fault(rules.DTYPE_NUMBER, "ignore", message, "choose a number the labels can hold, or cast them")
    smoothing = float(call.number("smoothing")) if call.given("smoothing") else 0.0
    if not 0 <= smoothing <= 1:
        raise call.fault(rules.TYPE_KIND, "smoothing", f"`cross-entropy` takes a smoothing from 0 to 1, not {smoothing}")
    inputs = [logits, labels]
    weighted = call.given("weights")
    if weighted:
        weights = call.tensor("weights", floating)
        broadcasts_to(call, "weights", weights.shape, labels.shape)
        inputs.append(weights)
    return call.emit(inputs, labels.shape, F32, weights=weighted, ignore=ignore, smoothing=smoothing)


@op(
    "kl-divergence",
    "log-p log-q",
    "neural",
    "The Kullback-Leibler divergence of q from p, Σ p (log p − log q) over the last axis, of two tensors of log probabilities. "
    "Where p is 0 (log p is -inf) nothing is added.",
    "(kl-divergence (log-softmax (ones [2 3])) (log-softmax (zeros [2 3])))",
)
def kl_divergence(call: Call) -> Value:
    p, q = call.join("log-p", "log-q", only=floating)
    for name, node in (("log-p", p), ("log-q", q)):
        if not node.shape:
            raise call.fault(rules.SHAPE_OPERATOR, name, "`kl-divergence` sums over the last axis, and this is a scalar")
    return call.emit([p, q], call.broadcast(p, q)[:-1], p.dtype)


@op(
    "binary-cross-entropy",
    "logits labels",
    "neural",
    "The negative log likelihood of labels between 0 and 1 under the sigmoid of the logits, element by element, in `:f32`.",
    "(binary-cross-entropy (zeros [4]) (ones [4]))",
)
def binary_cross_entropy(call: Call) -> Value:
    logits, labels = call.join("logits", "labels", only=floating)
    return call.emit([logits, labels], call.broadcast(logits, labels), F32)


# Attention


def _ranked(call: Call, name: str, node: Node, wanted: str, rank: int) -> None:
    if len(node.shape) != rank:
        message = f"`{call.name}` takes `{name}` as {wanted}, and this is {bracketed(node.shape)}"
        raise call.fault(rules.SHAPE_OPERATOR, name, message)


@op(
    "attention",
    "q k v &key (causal false) (mask nil) (bias nil) (scale nil)",
    "neural",
    "Scaled dot-product attention, softmax(scale · q kᵀ + bias) v, of tensors `[batch heads sequence size]`. k and v may have "
    "fewer heads than q (a divisor): each serves a group of neighbours. `:causal true` lets row i see the columns up to i, both "
    "counted from the start; `:mask` is true where q may look, `:bias` is added to the logits; both broadcast to "
    "`[batch heads q k]`. `:scale` is 1/√size. The softmax runs in f32. A row that may see nothing weighs every column alike.",
    "(attention (ones [2 4 6 8]) (ones [2 2 6 8]) (ones [2 2 6 8]) :causal true)",
)
def attention(call: Call) -> Value:
    names = ["q", "k", "v", *(["bias"] if call.given("bias") else [])]
    q, k, v, *bias = call.join(*names, only=floating)
    for name, node in (("q", q), ("k", k), ("v", v)):
        _ranked(call, name, node, "[batch heads sequence size]", 4)
    batch, heads, rows, size = q.shape
    if k.shape[0] != batch or k.shape[3] != size:
        message = f"`attention`: q is {bracketed(q.shape)}, and k is {bracketed(k.shape)}"
        raise call.fault(rules.SHAPE_OPERATOR, "k", message, f"k must have q's batch, {batch}, and q's size, {size}")
    if not k.shape[1] or heads % k.shape[1]:
        message = f"`attention`: q has {heads} heads, which k's {k.shape[1]} do not divide"
        raise call.fault(rules.SHAPE_OPERATOR, "k", message, "each head of k serves an equal number of heads of q")
    if v.shape[:3] != k.shape[:3]:
        message = f"`attention`: k is {bracketed(k.shape)}, and v is {bracketed(v.shape)}"
        raise call.fault(rules.SHAPE_OPERATOR, "v", message, "v must have k's batch, heads and sequence")
    inputs = [q, k, v]
    logits = (batch, heads, rows, k.shape[2])
    masked = call.given("mask")
    if masked:
        mask = call.tensor("mask", boolean)
        broadcasts_to(call, "a mask", mask.shape, logits)
        inputs.append(mask)
    if bias:
        broadcasts_to(call, "a bias", bias[0].shape, logits)
        inputs.append(bias[0])
    scale = float(call.number("scale")) if call.given("scale") else 1 / math.sqrt(max(size, 1))
    shape = (batch, heads, rows, v.shape[3])
    return call.emit(inputs, shape, q.dtype, causal=call.boolean("causal"), mask=masked, bias=bool(bias), scale=scale)


@op(
    "rope",
    "x positions &key (base 10000.0)",
    "neural",
    "Rotary position embedding of x `[batch heads sequence size]` at integer positions `[sequence]` or `[batch sequence]`. "
    "Element i of the first half of the last axis is paired with element i of the second half, and the pair is turned by "
    "position · base^(-2i/size), computed in f32.",
    "(rope (ones [2 4 6 8]) (iota [6]))",
    residuals="indices",
)
def rope(call: Call) -> Value:
    x = call.tensor("x", floating)
    _ranked(call, "x", x, "[batch heads sequence size]", 4)
    if x.shape[3] % 2:
        message = f"`rope` pairs the two halves of the last axis, and {x.shape[3]} is odd"
        raise call.fault(rules.SHAPE_OPERATOR, "x", message, "give each head an even size")
    positions = call.tensor("positions", integral)
    batch, _, length, _ = x.shape
    if positions.shape not in ((length,), (batch, length)):
        message = f"`rope` of {bracketed(x.shape)} takes positions [{length}] or [{batch} {length}]"
        message = f"{message}, and this is {bracketed(positions.shape)}"
        raise call.fault(rules.SHAPE_OPERATOR, "positions", message, f"(iota [{length}]) counts from the start")
    base = float(call.number("base")) if call.given("base") else 10000.0
    if not 0 < base < math.inf:
        raise call.fault(rules.TYPE_KIND, "base", f"`rope` needs a base above 0, not {base}")
    return call.emit([x, positions], x.shape, x.dtype, base=base)


# Convolution and pooling

Widths = tuple[tuple[int, int], ...]


def _axes(count: int) -> str:
    return "1 space axis" if count == 1 else f"{count} space axes"


def _each_axis(call: Call, name: str, count: int, default: tuple[int, ...]) -> tuple[int, ...]:
    """An integer for each of `count` space axes, at least 1: one that serves them all, or a vector."""
    if not call.given(name):
        return default
    values = call.integers(name, 1)
    if type(call.value(name)) is int:
        return values * count
    if len(values) != count:
        message = f"`{call.name}` has {_axes(count)}, and `{name}` speaks of {len(values)}"
        raise call.fault(rules.SHAPE_OPERATOR, name, message, "write one integer for all axes, or one for each")
    return values


def _padding(call: Call, space: Sequence[int], window: Sequence[int], stride: Sequence[int], default: str) -> Widths:
    """Elements added before and after each space axis. `:same` makes ⌈size / stride⌉ windows, an odd element going behind."""
    value = call.value("padding") if call.given("padding") else keyword(default)
    if isinstance(value, Keyword):
        if value.name == "valid":
            return ((0, 0),) * len(space)
        if value.name != "same":
            raise call.wrong_kind(value, call.at("padding"), ":same, :valid or widths [[before after] …]")
        totals = [max((-(-size // s) - 1) * s + w - size, 0) for size, w, s in zip(space, window, stride, strict=True)]
        return tuple((total // 2, total - total // 2) for total in totals)
    widths = [_pair(call, item, form) for item, form in call.items("padding")]
    if len(widths) != len(space):
        message = f"`{call.name}` needs widths for {_axes(len(space))}, and there are {len(widths)}"
        raise call.fault(rules.SHAPE_OPERATOR, "padding", message, "write one [before after] for each, or :same, or :valid")
    return tuple(widths)


def _pair(call: Call, value: Value, at: Form) -> tuple[int, int]:
    if not isinstance(value, List) or len(value.items) != 2:
        raise call.wrong_kind(value, at, "the widths [before after] of a space axis")
    before, after = zip(map(known, value.items), item_forms(value, at), strict=True)
    return call.integer_of(*before, 0), call.integer_of(*after, 0)


def _windows(space: Sequence[int], window: Sequence[int], stride: Sequence[int], padding: Widths) -> tuple[int, ...]:
    """How many windows fit along each space axis."""
    fits = zip(space, window, stride, padding, strict=True)
    return tuple(max((size + sum(pad) - w) // s + 1, 0) for size, w, s, pad in fits)


def _space(call: Call, x: Node) -> tuple[int, ...]:
    if len(x.shape) < 3:
        message = f"`{call.name}` takes [batch …space channels], and this is {bracketed(x.shape)}"
        raise call.fault(rules.SHAPE_OPERATOR, "x", message, "(expand-dims x axes) adds the axes that are missing")
    return x.shape[1:-1]


@op(
    "conv-op",
    "x w &key (stride 1) (padding :same)",
    "neural",
    "The convolution (cross-correlation) of x `[batch …space channels]` with w `[…window in out]`, over any number of space "
    "axes. `:stride` is an integer or one for each axis, `:padding` is `:same` (⌈size / stride⌉ places), `:valid` (only whole "
    "windows) or widths `[[before after] …]` of zeros. The layer `conv` owns such a w.",
    "(conv-op (ones [2 8 8 3]) (ones [3 3 3 16]) :stride 2)",
)
def conv_op(call: Call) -> Value:
    x, w = call.join("x", "w", only=floating)
    space = _space(call, x)
    if len(w.shape) != len(x.shape):
        message = f"`{call.name}` of {bracketed(x.shape)} takes a w with {_axes(len(space))}, and this is {bracketed(w.shape)}"
        raise call.fault(rules.SHAPE_OPERATOR, "w", message, "w is [window … in out]")
    window, channels = w.shape[:-2], w.shape[-2]
    if channels != x.shape[-1]:
        message = f"`{call.name}`: x has {x.shape[-1]} channels, and w, {bracketed(w.shape)}, takes {channels}"
        raise call.fault(rules.SHAPE_OPERATOR, "w", message, "the last but one axis of w is the channels of x")
    if 0 in window:
        raise call.fault(rules.SHAPE_OPERATOR, "w", f"`{call.name}` needs a window, and w, {bracketed(w.shape)}, has none")
    stride = _each_axis(call, "stride", len(space), (1,) * len(space))
    padding = _padding(call, space, window, stride, "same")
    shape = (x.shape[0], *_windows(space, window, stride, padding), w.shape[-1])
    return call.emit([x, w], shape, x.dtype, stride=stride, padding=padding)


def _pool(call: Call) -> Value:
    x = call.tensor("x", numeric if call.name == "max-pool" else floating)
    space = _space(call, x)
    window = _each_axis(call, "window", len(space), ())
    stride = _each_axis(call, "stride", len(space), window)
    padding = _padding(call, space, window, stride, "valid")
    if any(width >= w for pad, w in zip(padding, window, strict=True) for width in pad):
        message = f"`{call.name}` of a window {bracketed(window)} with this padding has windows that hold no element"
        raise call.fault(rules.SHAPE_OPERATOR, "padding", message, "pad by less than the window")
    shape = (x.shape[0], *_windows(space, window, stride, padding), x.shape[-1])
    return call.emit([x], shape, x.dtype, window=window, stride=stride, padding=padding)


op(
    "avg-pool",
    "x window &key (stride nil) (padding :valid)",
    "neural",
    "The mean of every window over the space axes of x `[batch …space channels]`; padding does not count. The window and the "
    "stride (the window, if not given) are an integer or one for each axis.",
    "(avg-pool (ones [2 8 8 3]) 2)",
    residuals="none",
)(_pool)

op(
    "max-pool",
    "x window &key (stride nil) (padding :valid)",
    "neural",
    "The greatest element of every window over the space axes of x `[batch …space channels]`; padding does not count. The "
    "window and the stride (the window, if not given) are an integer or one for each axis.",
    "(max-pool (ones [2 8 8 3]) [2 2] :stride 1 :padding :same)",
)(_pool)
