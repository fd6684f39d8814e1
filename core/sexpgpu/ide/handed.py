"""What the runtime hands on under a name: the plist (a *space*) that an entry belongs to, and whose batch or inputs it is in.

A loader's batch is its own. Inputs are those of one objective: that of the file, which passes have that give none, or a pass's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sexpgpu.graph.nodes import Node
from sexpgpu.ide.owners import TRAINING, objective_of, own, owner_at, reaching
from sexpgpu.language.plists import entry
from sexpgpu.language.values import Plist, Value, keyword
from sexpgpu.reader.forms import Form

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis
    from sexpgpu.program.model import Loader

Space = tuple[str, ...]


class Handed:
    """The entries of one name in the plists of the runtime."""

    def __init__(self, analysis: Analysis, name: str) -> None:
        self.analysis = analysis
        self.name = name

    def value(self, items: tuple[Value, ...]) -> Value | None:
        """The entry of this name among the items of a plist."""
        found = entry(items, keyword(self.name))
        return entry(items, self.name) if found is None else found

    def spaces(self, plist: Plist, form: Form | None = None) -> list[Space]:
        """What an entry of this name belongs to in a plist of the runtime, and what a key at `form` reads there that is withheld:
        mostly one."""
        if plist.role == "ctx":
            return [("ctx",)]
        value = self.value(plist.items)
        withheld = form is not None and plist.withheld is not None and self.name in plist.withheld[0]
        if value is None and not plist.open and not withheld:
            return []
        if plist.role == "batch":
            return [self._batch(self._loader(plist.owner))]
        if plist.role == "inputs":
            return [("inputs", self.reader(owner)) for owner in self._handed_to(plist, form)]
        if plist.role == "state":
            return [("optimizer",) if isinstance(value, Node) and value.attrs.get("kind") == "optimizer" else ("state",)]
        return [(plist.role,)]

    def _handed_to(self, plist: Plist, form: Form | None) -> set[str]:
        """Whose objective is handed a plist: its tensors hang on what names the function. Without one the text has to tell."""
        at = next((value.form for value in plist.items[1::2] if isinstance(value, Node)), None)
        if at is not None:
            return {owner_at(self.analysis, at)}
        return set() if form is None else reaching(self.analysis, "objective", form)

    def reader(self, owner: str) -> str:
        """Whose objective reads the inputs of training or a pass: one function has one kind of inputs, also where a pass names that
        of training and has its graph."""
        graph, training = objective_of(self.analysis, owner), self.analysis.program.objective
        same = graph is not None and training is not None and graph.nodes is training.nodes
        return TRAINING if same or own(self.analysis, owner, "objective") is None else owner

    def _loader(self, owner: str) -> Loader | None:
        program = self.analysis.program
        if not owner:
            return program.training
        return program.passes[owner].loader if owner in program.passes else None

    def _batch(self, loader: Loader | None) -> Space:
        generates = self.analysis.program.generator is not None
        if loader is not None and (not generates or self.name in (loader.fields or {})):
            return ("field", loader.name)
        return ("generated",) if generates else ("field", "")

    def handed_on(self, owner: str) -> Space | None:
        """What an entry of this name is in the batch of training or a pass; None where it has none."""
        program = self.analysis.program
        loader, generates = self._loader(owner), program.generator is not None
        if loader is not None and loader.fields is not None and self.name not in loader.fields:
            generates = generates and (owner == TRAINING or program.passes[owner].generator is not None)
            return ("generated",) if generates else None
        return self._batch(loader)

    def input(self, node: Node) -> Space:
        """What an entry is that a graph has of the runtime."""
        kind = str(node.attrs["kind"])
        if kind == "batch":
            return self._batch(self._loader(self.batch_of(node)))
        return ("inputs", self.reader(owner_at(self.analysis, node.form))) if kind == "inputs" else (kind,)

    def batch_of(self, node: Node) -> str:
        """Whose batch an input is of."""
        for name, pass_ in self.analysis.program.passes.items():
            nodes = pass_.prepare.nodes if pass_.prepare is not None else ()
            if 0 <= node.index < len(nodes) and nodes[node.index] is node:
                return name
        return owner_at(self.analysis, node.form)
