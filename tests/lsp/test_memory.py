"""What a client is told of the memory of a run: the figures of the plan, and nothing where there is none."""

from __future__ import annotations

import re

import pytest
from lsprotocol import types

from sexpgpu.analysis import Options, analyse
from sexpgpu.ide.markup import Code
from sexpgpu.ide.memory import figure, plan_of, table
from sexpgpu.ide.owned import owned
from sexpgpu.ide.places import lists_in
from sexpgpu.plan.memory import gib, plan_memory
from sexpgpu.reader.forms import ListForm
from sexpgpu.source import Source
from support.drawn import FIXTURES
from support.editor import Editor

DRAWN = re.sub(r"; *\^ hover\n", "", (FIXTURES / "hover/memory.sx").read_text("utf-8"))


async def said(editor: Editor, uri: str, piece: str) -> str:
    found = await editor.hover(uri, piece, 2)
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


@pytest.mark.claim("D4", "G29", "G31")
async def test_hover_has_the_figures_of_the_plan(editor: Editor) -> None:
    plan = plan_memory(analyse(Source("x.sx", DRAWN)).program)
    assert plan is not None
    uri = editor.open(DRAWN)
    run = await said(editor, uri, "(defrun")
    generate = await said(editor, uri, "(defgenerate")
    phases = {phase.name: phase for phase in plan.phases}
    assert {"generate.init", "generate.step", "generate.finish", "training", "eval"} <= phases.keys()
    for name, phase in phases.items():
        row = rf"^{re.escape(name)} +{re.escape(gib(phase.own))} +{re.escape(gib(phase.bytes))}$"
        assert re.search(row, run, re.MULTILINE)
        assert bool(re.search(row, generate, re.MULTILINE)) == name.startswith("generate.")
    largest = max(phase.bytes for name, phase in phases.items() if name.startswith("generate."))
    assert f"generation {gib(largest)}\n" in run
    assert f"generation {gib(largest)}\n" in generate
    assert re.search(rf"^state of the trips +{re.escape(gib(plan.state))}$", generate, re.MULTILINE)
    assert plan.state == 4 * 64 * 32 * 4 + 4 * 1024 * 1024


@pytest.mark.claim("D4")
async def test_a_pass_has_its_own_phases_alone(editor: Editor) -> None:
    uri = editor.open(DRAWN)
    for piece in ("(defpass", " eval :loader"):
        eval = await said(editor, uri, piece)
        assert "eval/generate.step" in eval
        assert "training" not in eval


def test_a_file_without_a_generator_has_no_figure_for_one() -> None:
    analysis = analyse(Source("x.sx", DRAWN.replace("(defgenerate", "#;(defgenerate").replace(":noisy))))))", ":x))))))")))
    assert not analysis.diagnostics
    (run,) = (top.form for top in analysis.unit.main.reading.forms if top.head == "defrun")
    assert isinstance(run, ListForm)
    (code, _) = table(analysis, run)
    assert isinstance(code, Code)
    assert "generat" not in code.text
    assert "state of the trips" not in code.text


def test_an_error_leaves_no_figure() -> None:
    analysis = analyse(Source("x.sx", DRAWN.replace("(mean (square", "(missing (square")))
    for top in analysis.unit.main.reading.forms:
        if isinstance(top.form, ListForm):
            assert figure(analysis, top.form) == ""
    assert plan_of(analysis) is None


def test_parameters_are_known_at_every_call_on_the_way_to_them() -> None:
    analysis = analyse(Source("x.sx", DRAWN), options=Options(record=True))
    calls = {form.text: form for top in analysis.unit.main.reading.forms if top.form for form in lists_in(top.form)}
    assert {each.path for each in owned(analysis, calls["(block h)"])} == {
        f"model/{i}/mix/{name}" for i in range(3) for name in ("weight", "bias")
    }
    assert owned(analysis, calls["(linear :mix x 32)"]) == owned(analysis, calls["(block h)"])
    assert [each.frozen for each in owned(analysis, calls["(teacher x)"])] == [True, True]
    assert len(owned(analysis, calls["(model (field inputs :noisy))"])) == 10
    assert owned(analysis, calls["(range 3)"]) == []
