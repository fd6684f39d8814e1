"""Who reports what: training and each pass have names of their own for metrics, also where one function reports for several.

A metric is given where a graph reports it, and asked for as what a pass reports. Two metrics of one name that never report for the
same pass are two, and neither is renamed with the other. Training alone samples diagnostics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sexpgpu.ide.owners import TRAINING, objective_of, owners, reaching
from sexpgpu.ide.reports import Named, named
from sexpgpu.reader.forms import Form, ListForm

if TYPE_CHECKING:
    from sexpgpu.analysis import Analysis

_TRAIN = "train"
_SOMEBODY = " "
"""Stands for whoever reports the one metric of a name in a file that does not tell; no pass is named so."""


class Reporters:
    """The places that name a metric or a diagnostic, and for whom each reports or is asked."""

    def __init__(self, analysis: Analysis, kind: str, name: str) -> None:
        self.analysis = analysis
        self.kind = kind
        self.name = name
        self.places = [each for each in named(analysis, name) if (each.kind, each.name) == (kind, name)]
        self._traced = self._by_graph()
        self._owners: dict[Form, set[str]] = {each.form: self._given(each.form) for each in self.places if each.gives}
        asked = {each.form: self._asked(each) for each in self.places if not each.gives}
        unclear = [form for form, owner in asked.items() if owner is None]
        if unclear and self._is_one():
            known = {owner for theirs in self._owners.values() for owner in theirs}
            if not known:
                self._owners = {form: {_SOMEBODY} for form in self._owners}
            self._owners.update(dict.fromkeys(unclear, known or {_SOMEBODY}))
        self._owners.update({form: {owner} for form, owner in asked.items() if owner is not None})

    def owners_of(self, form: Form) -> set[str]:
        """For whom a place reports, or is asked; nobody, where that is not known."""
        return self._owners.get(form, set())

    def group(self, form: Form) -> list[Named]:
        """The places of the same metric: those that report for somebody for whom this one does too, and so on."""
        found = set(self.owners_of(form))
        while more := {owner for theirs in self._owners.values() if theirs & found for owner in theirs} - found:
            found |= more
        return [each for each in self.places if each.form is form or self.owners_of(each.form) & found]

    def reported(self, form: Form) -> list[str]:
        """For whom a metric is reported that is given at a place, or wherever that one is given which is asked for there."""
        mine = self.owners_of(form)
        given = [self.owners_of(each.form) for each in self.places if each.gives]
        found = {owner for theirs in given if theirs & mine for owner in theirs}
        asks = not any(each.gives and each.form is form for each in self.places)
        return [owner for owner in owners(self.analysis) if owner in (found if asks else mine) and self._may_report(owner)]

    def _by_graph(self) -> dict[Form, set[str]]:
        """The names that graphs report from, and whose graphs these are."""
        found: dict[Form, set[str]] = {}
        for owner in owners(self.analysis):
            graph = objective_of(self.analysis, owner)
            for report in () if graph is None else (graph.metrics if self.kind == "metric" else graph.diagnostics):
                if isinstance(report.form, ListForm) and len(report.form.items) > 1:
                    found.setdefault(report.form.items[1], set()).add(owner)
        return found

    def _given(self, form: Form) -> set[str]:
        """For whom a name is given: as graphs show, and by the text where these do not show all."""
        traced: set[str] = self._traced.get(form, set())
        unsure = {owner for owner in owners(self.analysis) if not traced or not self._is_whole(owner)} - traced
        found = traced | (unsure & reaching(self.analysis, "objective", form)) if unsure else traced
        return {TRAINING} if self.kind == "diagnostic" and TRAINING in found else found

    def _asked(self, each: Named) -> str | None:
        """Of whom a name is asked; None where the file has no such pass."""
        if each.kind == "diagnostic":
            return TRAINING
        if each.owner in self.analysis.program.passes:
            return each.owner
        return TRAINING if each.owner == _TRAIN else None

    def _is_one(self) -> bool:
        """Whether all that is given under the name is one metric: whatever is asked for by that name is this, then."""
        given = list(self._owners.values())
        return len(given) == 1 or (bool(given) and bool(set[str].intersection(*given)))

    def _is_whole(self, owner: str) -> bool:
        graph = objective_of(self.analysis, owner)
        return graph is not None and graph.whole and (self.kind == "metric" or owner == TRAINING)

    def _may_report(self, owner: str) -> bool:
        """Whether somebody reports the name: a graph without a gap shows all that it reports."""
        graph = objective_of(self.analysis, owner)
        return graph is None or not self._is_whole(owner) or self.name in reported_names(self.analysis, self.kind, owner)


def reported_names(analysis: Analysis, kind: str, owner: str) -> set[str]:
    """The names that somebody's graph reports, computed ones too."""
    graph = objective_of(analysis, owner) if owner in owners(analysis) else None
    return set() if graph is None else {each.name for each in (graph.metrics if kind == "metric" else graph.diagnostics)}


def shown(owner: str) -> str:
    """What stands in front of a metric's name."""
    return owner or _TRAIN
