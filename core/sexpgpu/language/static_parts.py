"""What the static pass reads off the parts of a form, without a word about them."""

from __future__ import annotations

from sexpgpu.reader.forms import Form, ListForm, QuoteForm, SymbolForm, VectorForm


def bindings(form: ListForm) -> list[tuple[SymbolForm, Form]]:
    """The names and values of a well-formed `let` or `let*`."""
    listed = form.items[1]
    assert isinstance(listed, ListForm)
    pairs: list[tuple[SymbolForm, Form]] = []
    for binding in listed.items:
        assert isinstance(binding, ListForm)
        name = binding.items[0]
        assert isinstance(name, SymbolForm)
        pairs.append((name, binding.items[1]))
    return pairs


def may_bind(form: Form) -> bool:
    """Whether a form may be a parameter list or bindings: symbols alone, or a list first."""
    if not isinstance(form, ListForm) or not form.items:
        return False
    return isinstance(form.items[0], ListForm) or all(isinstance(item, SymbolForm) for item in form.items)


def symbols_in(form: Form) -> list[SymbolForm]:
    """The symbols anywhere inside a form, each name once."""
    found: dict[str, SymbolForm] = {}
    waiting = [form]
    while waiting:
        form = waiting.pop()
        if isinstance(form, SymbolForm):
            found[form.name] = form
        elif isinstance(form, (ListForm, VectorForm)):
            waiting.extend(form.items)
        elif isinstance(form, QuoteForm):
            waiting.append(form.form)
    return list(found.values())
