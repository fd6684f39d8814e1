"""Graphs in a readable form: one node a line, in the order in which they are computed.

objective
  %0 = input inputs/tokens : i32[4 8]
  %1 = parameter model/tokens/table : f32[16 32]
  %2 = take %1 %0 axis=0 : f32[4 8 32]
  metric "loss" = %2
  result = %2
"""

from __future__ import annotations

from sexpgpu.graph.nodes import Attribute, Graph, Node, typed
from sexpgpu.language.dtypes import DType


def line(node: Node) -> str:
    """A node as a line: its number, operation, inputs, attributes and type."""
    parts = [f"%{node.index} ="]
    if node.op == "input":
        kind, name = node.attrs["kind"], node.attrs["name"]
        parts.append(f"input {kind}" if kind == name else f"input {kind}/{name}")
    elif node.op == "parameter":
        variant = node.attrs["variant"]
        parts.append(f"parameter {node.attrs['path']}" + ("" if variant == "current" else f" ({variant})"))
    elif node.op == "constant":
        parts.append(f"constant {_shown(node.attrs['value'])}")
    else:
        parts.append(node.op)
        parts += [f"%{read.index}" for read in node.inputs]
        parts += [f"{key}={_shown(value)}" for key, value in node.attrs.items()]
    return " ".join((*parts, ":", typed(node.shape, node.dtype)))


def printed(graph: Graph) -> str:
    """A whole graph: its name, nodes, reports, counters and results."""
    lines = [graph.name, *(f"  {line(node)}" for node in graph.nodes)]
    lines += [f'  metric "{report.name}" = %{report.node.index}' for report in graph.metrics]
    lines += [f'  diagnostic "{report.name}" = %{report.node.index}' for report in graph.diagnostics]
    lines += [f"  counter :{name} = %{node.index}" for name, node in graph.counters.items()]
    lines += [f"  {f':{name}' if name else 'result'} = %{node.index}" for name, node in graph.outputs.items()]
    return "\n".join(lines)


def _shown(value: Attribute) -> str:
    match value:
        case tuple():
            return f"[{' '.join(_shown(item) for item in value)}]"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case str():
            return f'"{value}"'
        case bool():
            return "true" if value else "false"
        case None:
            return "nil"
        case DType():
            return repr(value)
        case _:
            return str(value)
