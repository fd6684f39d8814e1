"""The prelude: what its layers own, what they give, and where a mistake in their use is shown."""

from __future__ import annotations

import pytest

from sexpgpu.analysis import Analysis, analyse
from sexpgpu.graph.nodes import Shape
from sexpgpu.prelude import PRELUDE, source
from sexpgpu.program.unit import prelude_module
from sexpgpu.source import Source

FIELDS = {"x": ((6, 32), "f32"), "ids": ((6,), "i32"), "img": ((8, 8, 6), "f32"), "n": ((), "i32")}


def analysed(layer: str, schedule: str = "0.1", precision: str = ":f32") -> Analysis:
    """A run whose model is the layer, of x `[4 6 32]`, ids `[4 6]`, img `[4 8 8 6]` and n `[4]`."""
    specs = " ".join(f":{name} (spec [{' '.join(map(str, shape))}] :{dtype})" for name, (shape, dtype) in FIELDS.items())
    zeros = " ".join(f":{name} (zeros [{' '.join(map(str, shape))}] :{dtype})" for name, (shape, dtype) in FIELDS.items())
    text = f"""
(defloader train :batch 4 :fields (list {specs}) :source (synthetic 8 (lambda (_index) (list {zeros}))))
(defmodel model (x ids img n) {layer})
(defun prepare (batch _ctx)
  (list :x (field batch :x) :ids (field batch :ids) :img (field batch :img) :n (field batch :n)))
(defun objective (inputs _ctx)
  (mean (cast (model (getf inputs :x) (getf inputs :ids) (getf inputs :img) (getf inputs :n)) :f32)))
(defoptimizer (adamw :lr {schedule}))
(defrun :steps 100 :precision {precision})
"""
    return analyse(Source("layer.sx", text))


LAYERS: list[tuple[str, Shape, dict[str, tuple[Shape, str]]]] = [
    ("(linear :a x 5)", (4, 6, 5), {"a/weight": ((32, 5), "init-lecun"), "a/bias": ((5,), "init-zeros")}),
    ("(linear :a x 5 :bias false :init (init-he))", (4, 6, 5), {"a/weight": ((32, 5), "init-he")}),
    ("(embedding :a ids 10 3)", (4, 6, 3), {"a/table": ((10, 3), "init-normal")}),
    ("(layer-norm :a x)", (4, 6, 32), {"a/scale": ((32,), "init-ones"), "a/bias": ((32,), "init-zeros")}),
    ("(rms-norm :a x)", (4, 6, 32), {"a/scale": ((32,), "init-ones")}),
    ("(group-norm :a img 3)", (4, 8, 8, 6), {"a/scale": ((6,), "init-ones"), "a/bias": ((6,), "init-zeros")}),
    (
        "(mlp :a x [7 5])",
        (4, 6, 5),
        {
            "a/0/weight": ((32, 7), "init-lecun"),
            "a/0/bias": ((7,), "init-zeros"),
            "a/1/weight": ((7, 5), "init-lecun"),
            "a/1/bias": ((5,), "init-zeros"),
        },
    ),
    (
        "(self-attention :a x 4 :kv-heads 2 :rope (iota [6]))",
        (4, 6, 32),
        {
            "a/q/weight": ((32, 32), "init-lecun"),
            "a/q/bias": ((32,), "init-zeros"),
            "a/k/weight": ((32, 16), "init-lecun"),
            "a/k/bias": ((16,), "init-zeros"),
            "a/v/weight": ((32, 16), "init-lecun"),
            "a/v/bias": ((16,), "init-zeros"),
            "a/out/weight": ((32, 32), "init-lecun"),
            "a/out/bias": ((32,), "init-zeros"),
        },
    ),
    (
        "(self-attention :a x 8 :causal false :bias false)",
        (4, 6, 32),
        {f"a/{part}/weight": ((32, 32), "init-lecun") for part in ("q", "k", "v", "out")},
    ),
    ("(conv :a img 5 3)", (4, 8, 8, 5), {"a/weight": ((3, 3, 6, 5), "init-lecun"), "a/bias": ((5,), "init-zeros")}),
    ("(conv :a img 5 [2 3] :stride 2 :padding :valid :bias false)", (4, 4, 3, 5), {"a/weight": ((2, 3, 6, 5), "init-lecun")}),
    ("(conv :a x 5 3)", (4, 6, 5), {"a/weight": ((3, 32, 5), "init-lecun"), "a/bias": ((5,), "init-zeros")}),
    ('(linear (str "h" 1) x 5 :bias false)', (4, 6, 5), {"h1/weight": ((32, 5), "init-lecun")}),
]


@pytest.mark.parametrize(("layer", "shape", "parameters"), LAYERS, ids=[layer for layer, _, _ in LAYERS])
def test_a_layer_owns_what_its_documentation_says(layer: str, shape: Shape, parameters: dict[str, tuple[Shape, str]]) -> None:
    analysis = analysed(f"(print {layer})")
    told = [d for d in analysis.diagnostics if d.rule.severity != "hint"]
    assert [d.code for d in told] == ["I-PRINT-001"], told
    assert f"f32[{' '.join(map(str, shape))}]" in told[0].message
    found = {path.removeprefix("model/"): (p.shape, p.init.name) for path, p in analysis.program.parameters.items()}
    assert found == parameters


@pytest.mark.parametrize("layer", [layer for layer, _, _ in LAYERS if "embedding" not in layer])
def test_layers_compute_in_bf16_and_norms_sum_in_f32(layer: str) -> None:
    analysis = analysed(f"(print {layer})", precision=":bf16")
    assert any(d.code == "I-PRINT-001" and "bf16[" in d.message for d in analysis.diagnostics)
    assert analysis.program.objective is not None
    for node in analysis.program.objective.nodes:
        if node.op == "mean" and "norm" in layer:
            assert node.dtype.name == "f32"
        if node.op in ("matmul", "conv-op", "attention"):
            assert node.dtype.name == "bf16"


MISTAKES: list[tuple[str, str, str]] = [
    # the argument that the operator inside complains of
    ('(linear :a x "5")', "E-TYPE-001", '"5"'),
    ("(linear :a x n)", "E-STAGE-001", "n"),
    ("(linear :a x -3)", "E-TYPE-001", "-3"),
    ("(linear :a x 5 :init 0.02)", "E-TYPE-001", "0.02"),
    ("(linear nil x 5)", "E-TYPE-001", "nil"),
    ("(linear :a ids 5)", "E-DTYPE-001", "(linear :a ids 5)"),
    ("(linear :a x)", "E-CALL-001", "linear"),
    ("(linear :a x 5 :bais false)", "E-CALL-001", ":bais"),
    ("(embedding :a x 10 3)", "E-DTYPE-003", "x"),
    ("(embedding :a ids 10 [3])", "E-TYPE-001", "[3]"),
    ("(layer-norm :a ids)", "E-DTYPE-003", "ids"),
    ('(rms-norm :a x :epsilon "a")', "E-TYPE-001", '"a"'),
    ("(group-norm :a img 4)", "E-SHAPE-002", "4"),
    ("(group-norm :a img 0)", "E-TYPE-001", "0"),
    ("(group-norm :a img n)", "E-STAGE-001", "n"),
    ("(group-norm :a (sum img) 1)", "E-SHAPE-002", "(sum img)"),
    ('(mlp :a x [5 "a"])', "E-TYPE-001", '[5 "a"]'),
    ("(mlp :a x 5)", "E-TYPE-001", "5"),
    ("(self-attention :a x 5)", "E-SHAPE-002", "5"),
    ("(self-attention :a x 0)", "E-TYPE-001", "0"),
    ("(self-attention :a x 4.0)", "E-TYPE-001", "4.0"),
    ("(self-attention :a x 4 :kv-heads 3)", "E-SHAPE-002", "3"),
    ("(self-attention :a img 3)", "E-SHAPE-002", "img"),
    ("(self-attention :a x 4 :rope (iota [5]))", "E-SHAPE-002", "(iota [5])"),
    ("(self-attention :a x 4 :causal 1)", "E-TYPE-001", "1"),
    ('(conv :a img "5" 3)', "E-TYPE-001", '"5"'),
    ('(conv :a img 5 [3 "a"])', "E-TYPE-001", '"a"'),
    ("(conv :a img 5 [3])", "E-SHAPE-002", "[3]"),
    ("(conv :a ids 5 3)", "E-DTYPE-003", "ids"),
    ("(conv :a img 5 3 :stride 0)", "E-TYPE-001", "0"),
    ("(conv :a img 5 3 :padding :full)", "E-TYPE-001", ":full"),
]

SCHEDULES: list[tuple[str, str, str]] = [
    ("(lambda (ctx) (warmup-cosine ctx :peak 0.1))", "E-CALL-001", "warmup-cosine"),
    ("(lambda (ctx) (warmup-linear ctx :warmup 10))", "E-CALL-001", "warmup-linear"),
    ("(lambda (ctx) (constant ctx))", "E-CALL-001", "constant"),
    ("(lambda (ctx) (warmup-linear ctx :peak 0.1 :warmup 1.5))", "E-DTYPE-002", "1.5"),
    ('(lambda (ctx) (warmup-linear ctx :peak "a" :warmup 10))', "E-TYPE-001", '"a"'),
    ("(lambda (_ctx) (warmup-cosine 3 :peak 0.1 :warmup 10))", "E-TYPE-001", "3"),
]


@pytest.mark.parametrize(("layer", "code", "at"), MISTAKES, ids=[text for text, _, _ in MISTAKES])
def test_a_mistake_is_told_once_where_the_user_wrote_it(layer: str, code: str, at: str) -> None:
    _assert_told(analysed(layer), code, at)


@pytest.mark.parametrize(("schedule", "code", "at"), SCHEDULES, ids=[text for text, _, _ in SCHEDULES])
def test_a_mistake_in_a_schedule_is_told_once_where_the_user_wrote_it(schedule: str, code: str, at: str) -> None:
    _assert_told(analysed("(linear :a x 5)", schedule), code, at)


def _assert_told(analysis: Analysis, code: str, at: str) -> None:
    errors = [d for d in analysis.diagnostics if d.rule.severity == "error"]
    assert [(d.code, d.span.source.name, d.span.source.text[d.span.start : d.span.end]) for d in errors] == [(code, "layer.sx", at)]


def test_a_layer_in_a_loop_needs_a_name_for_each_turn() -> None:
    shared = analysed("(reduce (lambda (h _i) (linear :a h 32)) (range 3) x)")
    assert [d.code for d in shared.diagnostics if d.rule.severity != "hint"] == ["W-MODEL-001"]
    own = analysed("(reduce (lambda (h i) (linear i h 32 :bias false)) (range 3) x)")
    assert list(own.program.parameters) == [f"model/{i}/weight" for i in range(3)]


@pytest.mark.parametrize(
    "schedule", ["(warmup-cosine ctx :peak 0.1 :warmup 10)", "(warmup-linear ctx :peak 1 :warmup 0)", "(constant ctx :peak 1)"]
)
def test_a_schedule_gives_an_f32_scalar(schedule: str) -> None:
    analysis = analysed("(linear :a x 5)", f"(lambda (ctx) {schedule})")
    assert analysis.ok, analysis.diagnostics
    assert analysis.program.optimizer is not None
    assert analysis.program.optimizer.schedule is not None
    rate = analysis.program.optimizer.schedule.outputs[""]
    assert (rate.shape, rate.dtype.name) == ((), "f32")


# The files


@pytest.mark.parametrize("file", sorted(set(PRELUDE.values())))
def test_the_table_names_what_a_file_defines_for_others(file: str) -> None:
    module = prelude_module(file)
    public = {name for name in module.scope if not name.startswith("-")}
    assert public == {name for name, where in PRELUDE.items() if where == file}
    assert all(module.scope[name].documentation for name in public)


@pytest.mark.parametrize("file", sorted(set(PRELUDE.values())))
def test_the_files_are_clean_programs(file: str) -> None:
    analysis = analyse(Source(f"{file}.sx", source(file).text))
    told = {(d.code, d.message) for d in analysis.diagnostics if d.code != "W-NAME-001"}
    assert told <= {("H-NAME-001", "`ctx` is not used"), ("E-NAME-001", "`-fits` is not defined")}
