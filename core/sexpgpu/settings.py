"""`--set NAME=VALUE`: forms that stand in for the values of top-level `def`s."""

from __future__ import annotations

from sexpgpu.language.marks import Marks
from sexpgpu.language.nearest import nearest
from sexpgpu.language.static_unused import Given
from sexpgpu.language.static_walk import Walker
from sexpgpu.program.unit import Unit
from sexpgpu.reader import read
from sexpgpu.reader.forms import BadForm, Form, SymbolForm
from sexpgpu.source import Source


class SettingError(ValueError):
    """A setting that is no name and one readable value; the message says what is wrong."""


def read_settings(settings: dict[str, str], unit: Unit) -> dict[str, Form]:
    """The form of each setting's value. Raises SettingError where the text is not one form, or the file has no `def` of that
    name.
    """
    forms: dict[str, Form] = {}
    for name, text in settings.items():
        definition = unit.main.scope.get(name)
        if definition is None and not unit.main.open:
            defs = [definition.name for definition in unit.of_kind("def")]
            near = nearest(name, defs, 1)
            raise SettingError(f"--set {name}: the file has no (def {name} …)" + (f"; did you mean {near[0]}?" if near else ""))
        if definition is not None and definition.kind != "def":
            raise SettingError(f"--set {name}: only a `def` can be set, and `{name}` is a `{definition.kind}`")
        reading = read(Source(f"--set {name}", text))
        form = reading.forms[0].form if len(reading.forms) == 1 else None
        if reading.findings or form is None or isinstance(form, BadForm):
            raise SettingError(f"--set {name}: {text!r} is not one value; write --set {name}=3, or --set '{name}=[1 2]'")
        _check(name, form, unit)
        forms[name] = form
    return forms


def _check(name: str, form: Form, unit: Unit) -> None:
    """Raise SettingError where the value uses what nothing defines, or calls something as it is not called."""
    marks = Marks()
    walker = Walker(unit.main, Given(marks), marks)
    walker.expression(form)
    for finding in [*walker.findings, *walker.missing]:
        help = f"; {finding.help}" if finding.help else ""
        if isinstance(form, SymbolForm):
            help = f"; a string is written --set '{name}=\"{form.name}\"', a keyword --set {name}=:{form.name}"
        raise SettingError(f"--set {name}: {finding.message}{help}")
