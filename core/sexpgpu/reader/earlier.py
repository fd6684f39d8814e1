"""Meeting the forms of an earlier reading again, so that what is known of them stays known."""

from __future__ import annotations

from sexpgpu.reader.forms import TopForm

# How many forms are tried where one begins: edits leave out, or add, a few at a time.
_AHEAD = 4


class Earlier:
    """The readable top-level forms of an earlier reading, each of which can be met once.

    Such a form depends on nothing but its own text: a list or vector ends with its closer, whatever stands behind it.
    """

    __slots__ = ("_by_text", "_forms", "_met", "_next")

    def __init__(self, forms: list[TopForm]) -> None:
        self._forms = [top for top in forms if not top.broken]
        self._next = 0
        self._met: set[TopForm] = set()
        self._by_text: dict[str, list[int]] | None = None

    def at(self, text: str, start: int) -> TopForm | None:
        """The next of the forms, if it stands in `text` at `start`, where a bracket opens."""
        for index in range(self._next, min(self._next + _AHEAD, len(self._forms))):
            top = self._forms[index]
            if text.startswith(top.text, start) and top not in self._met:
                return self._meet(index)
        return None

    def like(self, top: TopForm) -> TopForm:
        """A form with the text of this one, wherever it stood; this one if there is none."""
        if self._by_text is None:
            self._by_text = {}
            for index in reversed(range(len(self._forms))):
                self._by_text.setdefault(self._forms[index].text, []).append(index)
        same = self._by_text.get(top.text, [])
        while same:
            index = same.pop()
            if self._forms[index] not in self._met:
                return self._meet(index)
        return top

    def _meet(self, index: int) -> TopForm:
        self._next = index + 1
        self._met.add(self._forms[index])
        return self._forms[index]
