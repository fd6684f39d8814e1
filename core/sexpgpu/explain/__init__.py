"""What a run consists of, told from its graphs without running them: `report` is the data, `text` how it reads in a terminal."""

from sexpgpu.explain.report import GraphReport, RunReport, explain
from sexpgpu.explain.text import graph_text, report_text

__all__ = ["GraphReport", "RunReport", "explain", "graph_text", "report_text"]
