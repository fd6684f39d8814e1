"""Whether the arguments of a direct call fit the signature of what it calls, as far as the text alone can tell."""

from __future__ import annotations

from collections.abc import Container, Sequence

from sexpgpu.language.signature import Mismatch, Signature, bind
from sexpgpu.reader.forms import BadForm, ConstantForm, Form, KeywordForm, NumberForm, StringForm, VectorForm

_NO_KEYWORD = (NumberForm, StringForm, ConstantForm, VectorForm)


def mismatch_of(name: str, signature: Signature, arguments: Sequence[Form]) -> Mismatch | None:
    """What is wrong with the arguments; None where nothing is, or where that depends on their values.

    A token that does not read may have been meant for nothing: then the call must be wrong without it, too.
    """
    if _fits(signature, arguments):
        return None
    mismatch = _mismatch(name, signature, arguments)
    if mismatch is not None and any(_stray(argument) for argument in arguments):
        rest = [argument for argument in arguments if not _stray(argument)]
        if _mismatch(name, signature, rest) is None:
            return None
    return mismatch


def misleads(signature: Signature, arguments: Sequence[Form], broken: Container[Form]) -> bool:
    """Whether an argument that is told to be wrong may make the call look wrong, too: one that may have been meant for nothing, or
    one where a keyword should stand."""
    if any(_stray(argument) for argument in arguments):
        return True
    keys = arguments[len(signature.required) + len(signature.optional) :: 2] if signature.keys else ()
    return any(isinstance(key, BadForm) or key in broken for key in keys)


def _fits(signature: Signature, arguments: Sequence[Form]) -> bool:
    """Whether the arguments are right beyond doubt. Most calls are."""
    keys, count = signature.keys, len(arguments)
    if not keys:
        return signature.takes(count)
    start = len(signature.required) + len(signature.optional)
    if count <= start:
        return count >= signature.least and not signature.required_keys
    if (count - start) % 2:
        return False
    given: set[str] = set()
    for argument in arguments[start::2]:
        if type(argument) is not KeywordForm or argument.name not in keys:
            return False
        given.add(argument.name)
    return 2 * len(given) == count - start and given.issuperset(signature.required_keys)


def _stray(argument: Form) -> bool:
    return isinstance(argument, BadForm) and not any(character == '"' or character.isalnum() for character in argument.text)


def _mismatch(name: str, signature: Signature, arguments: Sequence[Form]) -> Mismatch | None:
    unsure = _first_unsure(signature, arguments)
    try:
        bind(name, signature, arguments[:unsure], _keyword_name)
    except Mismatch as mismatch:
        if unsure is None or mismatch.argument is not None:
            return mismatch.with_traceback(None)  # which would hold on to its frames, and they to the whole analysis
    return None


def _first_unsure(signature: Signature, arguments: Sequence[Form]) -> int | None:
    """The first argument that stands where a keyword should and may be one, by its value.

    With an odd number of arguments there, one is wrong whatever they are.
    """
    if not signature.keys:
        return None
    start = len(signature.required) + len(signature.optional)
    sure_of_number = (len(arguments) - start) % 2 == 1
    for index in range(start, len(arguments), 2):
        argument = arguments[index]
        if isinstance(argument, BadForm):
            return index
        if not isinstance(argument, (KeywordForm, *_NO_KEYWORD)) and not sure_of_number:
            return index
    return None


def _keyword_name(argument: Form) -> str | None:
    return argument.name if isinstance(argument, KeywordForm) else None
