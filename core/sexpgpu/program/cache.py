"""What one analysis of a file leaves for the next, so that only what an edit reaches is done again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sexpgpu.language.kept_calls import KeptCalls
from sexpgpu.language.replacing import same_plist, same_value
from sexpgpu.language.static import Before
from sexpgpu.program.build import Known
from sexpgpu.reader.forms import Form, TopForm

if TYPE_CHECKING:
    from sexpgpu.graph.nodes import Node
    from sexpgpu.language.marks import Checked
    from sexpgpu.language.values import Closure, Plist, Value


class Cache:
    """Kept from one analysis of a file to the next, which brings it up to date.

    `known` are the readings of the file and its loads, with what their forms define, and `static` is what the static pass found in
    each form of the top level. `functions` and `values` are what definitions stood for, `lambdas` the functions of the `lambda`s
    outside of all others; each holds while `static` says the same of its form, one of the prelude's always. `inputs` are the
    inputs of graphs by graph, kind and name, `plists` those that the runtime hands over by graph and role, and `calls` the calls
    that were traced. The graphs of an earlier analysis must not be used any more: their nodes have moved on.
    """

    def __init__(self) -> None:
        self.known = Known()
        self.static = Before()
        self._forget()

    def _forget(self) -> None:
        self._options: object = None
        self.functions: dict[TopForm, tuple[Checked | None, Closure]] = {}
        self.values: dict[TopForm, Value] = {}
        self.lambdas: dict[Form, tuple[Checked, Closure]] = {}
        self.inputs: dict[tuple[str, str, str], Node] = {}
        self.plists: dict[tuple[str, str], Plist] = {}
        self.calls = KeptCalls()

    def begin(self, options: object) -> None:
        """An analysis begins, with the forms that `static` holds now: what belonged to others is let go. `options` are those that
        values depend on: with others than before, nothing is known of values.
        """
        if options != self._options:
            self._forget()
            self._options = options
        self.calls.begin()
        for kept in (self.functions, self.values):
            for top in [top for top in kept if top not in self.static.checked and not top.source.builtin]:
                del kept[top]
        for form in [form for form in self.lambdas if form.top not in self.static.checked]:
            del self.lambdas[form]

    def same_plist(self, graph: str, plist: Plist) -> Plist:
        """A plist of the runtime's: the very object of the last analysis, as if nothing had read it, where that is like it."""
        known = self.plists.get((graph, plist.role))
        if known is not None and known.items == plist.items and known.names == plist.names and same_plist(known, plist):
            known.read, known.whole = {}, False
            return known
        self.plists[graph, plist.role] = plist
        return plist

    def same_value(self, top: TopForm, value: Value) -> Value:
        """The value of a definition: the very object of the last analysis, where that is like it."""
        known = self.values.get(top)
        if known is not None and same_value(known, value):
            return known
        self.values[top] = value
        return value
