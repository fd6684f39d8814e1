"""Graphs: what `verify` refuses, and how a graph reads."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sexpgpu.analysis import analyse
from sexpgpu.graph.nodes import Graph, Node
from sexpgpu.graph.printer import printed
from sexpgpu.graph.verify import GraphFault, verify
from sexpgpu.language.dtypes import DType
from sexpgpu.source import Source

TEXT = """(defloader rows
  :batch 2
  :fields (list :x (spec [3] :f32))
  :source (synthetic 8 (lambda (index) (list :x (uniform [3] :salt index)))))

(defmodel model (x) (linear :out x 3))

(defun prepare (batch ctx)
  (counter :seen 2)
  (list :x (field batch :x)))

(defun objective (inputs ctx)
  (metric "loss" (mean (model (getf inputs :x)))))
"""


def graph(name: str) -> Graph:
    return analyse(Source("graphs.sx", TEXT)).program.graphs[name]


def test_a_graph_reads_top_to_bottom() -> None:
    assert printed(graph("objective")).split("\n") == [
        "objective",
        "  %0 = parameter model/out/weight : f32[3 3]",
        "  %1 = input inputs/x : f32[2 3]",
        "  %2 = matmul %1 %0 : f32[2 3]",
        "  %3 = parameter model/out/bias : f32[3]",
        "  %4 = + %2 %3 : f32[2 3]",
        "  %5 = mean %4 axes=[0 1] keepdims=false : f32[]",
        '  metric "loss" = %5',
        "  result = %5",
    ]


def test_an_input_that_is_only_reported_is_in_the_graph() -> None:
    text = TEXT.replace('(metric "loss"', '(metric "step" (getf ctx :step))\n  (metric "loss"').replace(
        "(counter :seen 2)", "(counter :seen (getf ctx :step))"
    )
    program = analyse(Source("graphs.sx", text)).program
    assert '  metric "step" = %0' in printed(program.graphs["objective"]).split("\n")
    assert "  %0 = input ctx/step : i64[]" in printed(program.graphs["prepare"]).split("\n")


def test_counters_and_entries_are_named() -> None:
    assert printed(graph("prepare")).split("\n")[-2:] == ["  counter :seen = %0", "  :x = %1"]


def _misplace(broken: Graph) -> None:
    broken.nodes[2].index = 7


def _reverse(broken: Graph) -> None:
    broken.nodes[2].inputs = (broken.nodes[4],)


def _retype(broken: Graph) -> None:
    broken.nodes[2].dtype = DType("f32", "float", 32)


def _shrink(broken: Graph) -> None:
    broken.nodes[2].shape = (-1, 3)


def _rename(broken: Graph) -> None:
    broken.nodes[2].op = "matmull"


def _feed(broken: Graph) -> None:
    broken.nodes[3].inputs = (broken.nodes[0],)


def _lose(broken: Graph) -> None:
    node = broken.nodes[5]
    broken.outputs[""] = Node(node.op, node.inputs, node.attrs, node.shape, node.dtype, node.form)


@pytest.mark.parametrize("spoil", [_misplace, _reverse, _retype, _shrink, _rename, _feed, _lose])
def test_what_is_not_well_formed_is_refused(spoil: Callable[[Graph], None]) -> None:
    broken = graph("objective")
    verify(broken)
    spoil(broken)
    with pytest.raises(GraphFault, match="objective"):
        verify(broken)


def test_a_draw_without_an_integer_salt_is_refused() -> None:
    broken = graph("rows.record")
    (draw,) = (node for node in broken.nodes if "place" in node.attrs)
    draw.inputs = ()
    with pytest.raises(GraphFault, match="salt"):
        verify(broken)
