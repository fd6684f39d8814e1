"""The names nearest to a misspelt one, for help lines and fixes."""

from __future__ import annotations

from collections.abc import Iterable

# What other languages call it, and what to write here.
_ELSEWHERE = {
    name: help
    for names, help in (
        ("setq setf set! set", "there is no assignment: bind the new value under a new name, with let"),
        ("define defvar defparameter defconstant", "write def for a value, defun for a function"),
        ("defmacro define-syntax", "there are no macros: write a function"),
        ("begin do", "write progn"),
        ("for while loop", "write dotimes or dolist"),
        ("fn function λ", "write lambda"),
        ("letrec flet labels", "write let*, or a defun"),
        ("else otherwise t #t True", "write true"),
        ("#f False", "write false"),
        ("None null? nil?", "write nil, and null to ask for it"),
        ("car", "write first"),
        ("cdr", "write rest"),
        ("cons", "write (append (list item) list)"),
        ("map", "write mapcar"),
        ("fold foldl", "write reduce"),
        ("len", "write length of a list, (dim x 0) of a tensor"),
        ("aref elt vector-ref", "write nth of a list, slice or take of a tensor"),
        ("get gethash", "write getf"),
        ("string-append concatenate", "write str"),
        ("println display", "write print"),
        ("eq eq? eql equal?", "write equal"),
        ("expt ** ^", "write pow"),
        ("@ dot-product mm", "write matmul"),
        ("arange", "write iota"),
        ("ones-like", "write (ones (shape x) (dtype x))"),
        ("zeros-like", "write (zeros (shape x) (dtype x))"),
        ("cat", "write concat"),
        ("gather", "write take, or take-along"),
        ("detach", "write stop-gradient"),
        ("dense", "write linear"),
    )
    for name in names.split()
}


def elsewhere(name: str) -> str:
    """The help for a name that other languages have for something; empty for any other."""
    return _ELSEWHERE.get(name, "")


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """At most `most` of the known names that a slip of the finger turns into `name`, the nearest first; a single letter has
    none.
    """
    if len(name) < 2:
        return []
    bound, letters = max(1, len(name) // 3), set(name)
    scored: list[tuple[int, str]] = []
    for candidate in known:
        if candidate == name or abs(len(candidate) - len(name)) > bound:
            continue
        if len(letters.symmetric_difference(candidate)) <= 2 * bound:  # a slip takes one letter away and brings one at most
            distance = _distance(name, candidate, bound)
            if distance <= bound:
                scored.append((distance, candidate))
    return [candidate for _, candidate in sorted(scored)[:most]]


def _distance(a: str, b: str, bound: int) -> int:
    """Edit distance with transpositions (optimal string alignment), or anything above `bound`."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, before_that = row, before
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before_that[j - 2] + 1)
            row.append(cost)
        before = above
        if min(row) > bound:
            return bound + 1
    return row[-1]
