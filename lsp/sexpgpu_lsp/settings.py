"""The settings `sexpgpu.*` as one table, and how they are read from what a client sends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, cast

from sexpgpu.diagnostics.ignore import CodeError, ignorable
from sexpgpu.language.nearest import nearest

SECTION = "sexpgpu"
_PREFIX = f"{SECTION}."

Complain = Callable[[str], None]


class Setting(NamedTuple):
    """A setting: the type of its value is that of its default. One with `choices` is one of those; `least` bounds a number."""

    name: str
    default: bool | int | str | tuple[str, ...]
    doc: str
    choices: tuple[str, ...] = ()
    least: int = 0


SETTINGS: dict[str, Setting] = {
    row.name: row
    for row in (
        Setting("path", "", "the `sexpgpu` command that the editor starts; read by the editor alone"),
        Setting("trace.server", "off", "which messages the editor shows; read by the editor alone", ("off", "messages", "verbose")),
        Setting("check.ignore", (), "codes of warnings, information and hints that are not shown, beside those of the project"),
        Setting("check.debounce", 25, "milliseconds of quiet between two analyses of a document that is being edited"),
        Setting("inlayHints.shapes", True, "show the shape and dtype of bindings and parameters that are tensors"),
        Setting("inlayHints.values", True, "show what a binding of the host was computed to be"),
        Setting("inlayHints.parameters", True, "show which parameter a literal argument is given to"),
        Setting("inlayHints.trips", True, "show how many trips a generator makes, where no code lens says so"),
        Setting(
            "inlayHints.memory", True, "show what the run, its generator and its passes take of memory, where no code lens says so"
        ),
        Setting("codeLens.enable", True, "show what can be done with a run above it, and what it takes"),
        Setting(
            "memory.compile",
            False,
            "compile in the background for finer estimates of memory; without effect today",
        ),
        Setting("run.detach", False, "let runs go on when the editor goes"),
        Setting("run.device", "", "where runs compute: cpu, gpu or tpu; empty leaves it to the runtime", ("", "cpu", "gpu", "tpu")),
    )
}
_GROUPS = {name.partition(".")[0] for name in SETTINGS if "." in name}


class Settings:
    """The value of every setting. It is never changed: other settings are other Settings."""

    def __init__(self, values: Mapping[str, object] | None = None) -> None:
        self._values: dict[str, object] = {name: row.default for name, row in SETTINGS.items()}
        self._values.update(values or {})

    def flag(self, name: str) -> bool:
        """A setting that is true or false."""
        return cast("bool", self._values[name])

    def number(self, name: str) -> int:
        """A setting that is a whole number."""
        return cast("int", self._values[name])

    def text(self, name: str) -> str:
        """A setting that is a text."""
        return cast("str", self._values[name])

    @property
    def ignore(self) -> frozenset[str]:
        """The codes that are not shown."""
        return frozenset(cast("tuple[str, ...]", self._values["check.ignore"]))

    @property
    def debounce(self) -> float:
        """Seconds of quiet between two analyses of a document."""
        return self.number("check.debounce") / 1000

    def changed(self, other: Settings) -> set[str]:
        """The names of the settings in which two differ."""
        return {name for name in SETTINGS if self._values[name] != other._values[name]}


def read_settings(given: object, complain: Complain) -> dict[str, object]:
    """The settings that a client sent, by name: nested or with dots, with `sexpgpu` around them or not. What is unknown or has
    another type is complained of, and left out.
    """
    found: dict[str, object] = {}
    if given is None:
        return found
    if not isinstance(given, Mapping):
        complain(f"settings are an object, and this is {_shown(given)}")
        return found
    whole = cast("Mapping[object, object]", given)
    waiting = [("", whole if SECTION not in whole else {SECTION: whole[SECTION]})]  # those of other tools may stand beside it
    while waiting:
        around, group = waiting.pop()
        for key, value in group.items():
            name = f"{around}{key}".removeprefix(_PREFIX)
            row = SETTINGS.get(name)
            if row is not None:
                if value is not None:
                    _take(row, value, found, complain)
            elif (name in _GROUPS or name == SECTION) and isinstance(value, Mapping):
                waiting.append(("" if name == SECTION else f"{name}.", cast("Mapping[object, object]", value)))
            elif value is not None or name not in _GROUPS:
                near = nearest(name, SETTINGS, 1)
                complain(f"there is no setting {_PREFIX}{name}" + (f"; did you mean {_PREFIX}{near[0]}?" if near else ""))
    return found


def _take(row: Setting, value: object, found: dict[str, object], complain: Complain) -> None:
    default = row.default
    name = f"{_PREFIX}{row.name}"
    if isinstance(default, tuple):
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in cast("list[object]", value)):
            complain(f"{name} is a list of codes, and this is {_shown(cast('object', value))}")
            return
        codes: list[str] = []
        for code in cast("list[str]", value):
            try:
                codes += ignorable([code])
            except CodeError as error:
                complain(f"{name}: {error}")
        found[row.name] = tuple(codes)
    elif isinstance(default, bool):
        if not isinstance(value, bool):
            complain(f"{name} is true or false, and this is {_shown(value)}")
            return
        found[row.name] = value
    elif isinstance(default, int):
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1 or value < row.least:
            complain(f"{name} is a whole number of {row.least} or more, and this is {_shown(value)}")
            return
        found[row.name] = int(value)
    elif not isinstance(value, str) or (row.choices and value not in row.choices):
        wanted = f"one of {', '.join(repr(choice) for choice in row.choices)}" if row.choices else "a text"
        complain(f"{name} is {wanted}, and this is {_shown(value)}")
    else:
        found[row.name] = value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"
