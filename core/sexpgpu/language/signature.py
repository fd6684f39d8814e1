"""Signatures and the one binder: what arguments a call takes, checked alike before evaluation and during it.

A table writes a signature as a parameter list of the language: `x &key (axis -1) (keepdims false)`. There alone, required
parameters in front may be left out: `[label] value`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")

_MOST_KEYS = 4
_TOKEN = re.compile(r"\(\s*([^\s()]+)\s+((?:[^()]|\([^()]*\))*?)\s*\)|([^\s()]+)")


class Signature:
    """Required, optional, keyword and rest parameters, in that order, by name. Defaults are shown as they are written.

    `required_keys` are the keyword parameters without which a call is wrong; `places` are the positions of the `positional` ones.
    Of the required ones the first `spare` may be left out: then what is given are the others.
    """

    __slots__ = ("keys", "optional", "places", "positional", "required", "required_keys", "rest", "spare")

    def __init__(
        self,
        required: Sequence[str],
        optional: Sequence[tuple[str, str]] = (),
        keys: Sequence[tuple[str, str]] = (),
        rest: str | None = None,
        required_keys: Sequence[str] = (),
        spare: int = 0,
    ) -> None:
        self.required = tuple(required)
        self.spare = spare
        self.optional = tuple(optional)
        self.keys = dict(keys)
        self.rest = rest
        self.required_keys = tuple(required_keys)
        self.positional = (*self.required, *(name for name, _ in self.optional))
        self.places = {name: index for index, name in enumerate(self.positional)}

    @property
    def least(self) -> int:
        """How many arguments a call needs by position."""
        return len(self.required) - self.spare

    def takes(self, count: int) -> bool:
        """Whether `count` positional arguments alone make a right call."""
        most = len(self.required) + len(self.optional)
        return count >= self.least and (self.rest is not None or count <= most) and not self.required_keys

    def __str__(self) -> str:
        parts = list(self.required)
        if self.optional:
            parts += ["&optional", *(f"({name} {default})" for name, default in self.optional)]
        if self.rest is not None:
            parts += ["&rest", self.rest]
        if self.keys:
            parts.append("&key")
            parts += [name if name in self.required_keys else f"({name} {default})" for name, default in self.keys.items()]
        return " ".join(parts)


def parse(text: str) -> Signature:
    """The signature that a table writes. A key without a default is required; `(key nil)` is not."""
    required: list[str] = []
    optional: list[tuple[str, str]] = []
    keys: list[tuple[str, str]] = []
    required_keys: list[str] = []
    rest: str | None = None
    spare, mode = 0, ""
    for match in _TOKEN.finditer(text):
        plain = match.group(3) or ""
        name, default = plain or match.group(1), match.group(2) or "nil"
        if plain.startswith("&"):
            mode = plain
        elif mode == "&rest":
            rest = name
        elif mode == "&optional":
            optional.append((name, default))
        elif mode == "&key":
            keys.append((name, default))
            if plain:
                required_keys.append(plain)
        else:
            spare += name.startswith("[")
            required.append(name.strip("[]"))
    return Signature(required, optional, keys, rest, required_keys, spare)


class Mismatch(Exception):
    """Arguments that do not fit a signature: what is wrong, and which argument (None: the call's head) shows it.

    `replacement` is the keyword that was most likely meant.
    """

    def __init__(self, message: str, argument: int | None = None, help: str = "", replacement: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.argument = argument
        self.help = help
        self.replacement = replacement


class Bound(Generic[T]):
    """Arguments by parameter name: `values` (only those given) and `rest`; `at` is each one's index among the call's arguments."""

    __slots__ = ("at", "rest", "rest_at", "values")

    def __init__(self) -> None:
        self.values: dict[str, T] = {}
        self.at: dict[str, int] = {}
        self.rest: list[T] = []
        self.rest_at: list[int] = []


def bind(name: str, signature: Signature, arguments: Sequence[T], keyword_of: Callable[[T], str | None]) -> Bound[T]:
    """Bind arguments to parameters as Common Lisp does: required, then optional, then keywords, the rest parameter taking all
    behind.

    `keyword_of` gives the name of an argument that is a keyword, None of any other. Raises Mismatch.
    """
    bound: Bound[T] = Bound()
    count, positional = len(arguments), signature.positional
    if signature.spare and count < len(signature.required):
        positional = positional[len(signature.required) - count :]
    bound.values = dict(zip(positional, arguments, strict=False))
    if count == len(signature.positional) and not signature.required_keys:
        bound.at = signature.places
        return bound
    bound.at = dict(zip(bound.values, range(count), strict=False))
    if count < signature.least:
        missing = ", ".join(signature.required[signature.spare + count :])
        raise Mismatch(
            f"`{name}` needs {counted(signature)}, and {_count(count)} given: {missing} missing", help=shown(name, signature)
        )
    behind = range(len(positional), count)
    if signature.rest is not None:
        bound.rest = [arguments[index] for index in behind]
        bound.rest_at = list(behind)
    if signature.keys:
        _bind_keys(name, signature, arguments, keyword_of, bound, len(positional))
    elif signature.rest is None and count > len(positional):
        raise Mismatch(f"`{name}` takes {counted(signature)}, and {_count(count)} given", help=shown(name, signature))
    return bound


def _bind_keys(
    name: str, signature: Signature, arguments: Sequence[T], keyword_of: Callable[[T], str | None], bound: Bound[T], start: int
) -> None:
    index = start
    while index < len(arguments):
        key = keyword_of(arguments[index])
        if key is None:
            raise Mismatch(f"`{name}` takes {counted(signature)} before its keywords", help=_with_keys(name, signature))
        if key not in signature.keys:
            from sexpgpu.language.nearest import nearest

            near = nearest(key, signature.keys)
            known = " ".join(f":{k}" for k in signature.keys)
            help = f"write :{near[0]}" if near else f"it has {known}"
            raise Mismatch(f"`{name}` has no keyword :{key}", index, help, near[0] if near else None)
        if key in bound.values:
            raise Mismatch(f"the keyword :{key} is given twice", index, "keep one of the two")
        if index + 1 >= len(arguments):
            raise Mismatch(f"the keyword :{key} has no value", index, f"write a value behind :{key}")
        bound.values[key] = arguments[index + 1]
        bound.at[key] = index + 1
        index += 2
    for key in signature.required_keys:
        if key not in bound.values:
            raise Mismatch(f"`{name}` needs the keyword :{key}", help=shown(name, signature))


def shown(name: str, signature: Signature) -> str:
    """`write (clip x lo hi)`: the help line that shows how a call is written."""
    spare = [f"[{parameter}]" for parameter in signature.required[: signature.spare]]
    parts = [name, *spare, *signature.required[signature.spare :], *(f"[{parameter}]" for parameter, _ in signature.optional)]
    if signature.rest is not None:
        parts.append("…")
    parts += [f":{key} …" for key in signature.required_keys]
    return f"write ({' '.join(parts)})"


def _with_keys(name: str, signature: Signature) -> str:
    """The help line with the keywords, for a call that has something else in their place."""
    keys = [f":{key} …" for key in signature.keys if key not in signature.required_keys]
    few = keys[:_MOST_KEYS] + ["…"] * (len(keys) > _MOST_KEYS)
    return f"{shown(name, signature)[:-1]} {' '.join(few)})" if few else shown(name, signature)


def counted(signature: Signature) -> str:
    """How many arguments may be given by position: `2 arguments`, `1 to 2 arguments`, `at least 1 argument`."""
    least, most = signature.least, len(signature.required) + len(signature.optional)
    if signature.rest is not None:
        return f"at least {least} argument{'s' * (least != 1)}"
    if least == most:
        return f"{least} argument{'s' * (least != 1)}"
    return f"{least} to {most} arguments"


def _count(count: int) -> str:
    return "1 is" if count == 1 else f"{count} are"
