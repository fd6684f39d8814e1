"""A probe for every method and command of the server, which judges its answers as one client would: `reading` asks, `writing` gets
edits, `telling` tells and commands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from support.clients import Session
from support.tiny import tiny

PART = "; Twice as much.\n(defun scaled (x) (* x 2))\n"
TEXT = (
    '(load "part.sx")\n'
    '(def 漢 "é😀") (def 積 (+ 1 2)) (defun twice (x) (* 2 x)) (def both (list "😀漢é" (twice (scaled 3))))\n'
    + tiny(run="(defrun tiny :steps 3)")
)
FAULTY = '(def a (list "😀漢é" (+ (iota [2]) (zeros [2])))) (def a 1) (defun g (unused) 1)\n'
EVERYTHING = {"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}}
FIRST_SYMBOL_KINDS = FIRST_COMPLETION_KINDS = list(range(1, 19))
DOUBLE_AT = '"😀漢é" (twice'

Probe = Callable[[Session, str], Awaitable[None]]
Probes = dict[Probe, tuple[str, ...]]


def into(probes: Probes) -> Callable[..., Callable[[Probe], Probe]]:
    """A decorator that puts a probe there, given the methods and commands that it is of. A probe gets a session, and the URI under
    which TEXT is open."""

    def of(*methods: str) -> Callable[[Probe], Probe]:
        def put(probe: Probe) -> Probe:
            probes[probe] = methods
            return probe

        return put

    return of
