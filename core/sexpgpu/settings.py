"""`--set NAME=VALUE`: forms that stand in for the values of top-level `def`s."""

from __future__ import annotations

from sexpgpu.reader import read
from sexpgpu.reader.forms import BadForm, Form
from sexpgpu.source import Source


class SettingError(ValueError):
    """A setting that is no name and one readable value; the message says what is wrong."""


def read_settings(settings: dict[str, str]) -> dict[str, Form]:
    """The form of each setting's value. Raises SettingError where the text is not one form."""
    forms: dict[str, Form] = {}
    for name, text in settings.items():
        reading = read(Source(f"--set {name}", text))
        form = reading.forms[0].form if len(reading.forms) == 1 else None
        if reading.findings or form is None or isinstance(form, BadForm):
            raise SettingError(f"--set {name}: {text!r} is not one value; write --set {name}=3, or --set '{name}=[1 2]'")
        forms[name] = form
    return forms
