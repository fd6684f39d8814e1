"""Ten thousand random edits of three open files, at two servers. `python tests/replay.py server` makes more."""

from __future__ import annotations

from pathlib import Path

import pytest

from sexpgpu.source import Encoding
from support.replay import Session, replay

EDITS = 5_000


@pytest.mark.claim("D2")
@pytest.mark.parametrize(("seed", "encoding", "pull"), [(1, "utf-16", False), (2, "utf-8", True)], ids=["pushed", "pulled"])
def test_after_thousands_of_edits_all_is_as_it_would_be_anew(seed: int, encoding: Encoding, pull: bool, tmp_path: Path) -> None:
    replay(tmp_path, seed, EDITS, encoding=encoding, pull=pull)


def test_a_question_does_not_keep_what_it_finds_to_itself(tmp_path: Path) -> None:
    """What a change brings about in another file is shown, also where a question about that file was quicker than its turn."""
    with Session(tmp_path, seed=0) as session:
        session.check()
        for number in range(8):
            session.write("lib/layers.sx", "(factor 2)", f"(factor {number + 3})")
            session.write("lib/layers.sx", f"(factor {number + 3})", '(factor "a")')
            asked = {"textDocument": {"uri": (tmp_path / "main.sx").as_uri()}, "position": {"line": 3, "character": 3}}
            session.peer.ask("textDocument/hover", asked)
            session.check()
            session.write("lib/layers.sx", '(factor "a")', "(factor 2)")
