"""Pages that are made from tables and tests are what they are made from."""

from __future__ import annotations

import pytest

from support.claims import OWNED, ROOT, proofs
from support.pages import PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_fresh(name: str, update: bool) -> None:
    file = ROOT / "docs" / name
    text = PAGES[name]()
    if update:
        file.write_text(text, encoding="utf-8")
    assert file.exists(), "run `make update`"
    assert file.read_text("utf-8") == text, "run `make update`"


def test_every_owned_claim_has_a_test() -> None:
    known = proofs()
    assert not [claim for claim in OWNED if claim not in known]
