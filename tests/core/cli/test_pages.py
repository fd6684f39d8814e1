"""The pages of codes: their form, and how `sexpgpu rule` shows them."""

from __future__ import annotations

import os
import re

import pytest

from sexpgpu import cli
from sexpgpu.diagnostics.page import FOLDER, PageError, page, parse
from sexpgpu.diagnostics.rules import RULES

PAGES = sorted(name.removesuffix(".md") for name in os.listdir(FOLDER))

WHOLE = """\
# E-GEN-004: a metric inside a generator

What is
reported.

## Why

For this.
Related: not a label inside a paragraph would be odd, so this is one

## Bad

```sx
 (bad)
;^^^^^ error[E-GEN-004]
```

## Good

```sx
(good)
## not a heading
Related: G1
```

## Instead

- Do that.

Related: G20, C9
Files: fixtures/pages/E-GEN-004/
"""


@pytest.mark.parametrize("code", PAGES)
def test_pages_are_of_known_codes_and_in_form(code: str) -> None:
    assert code in RULES
    found = page(code)
    assert found is not None
    assert found.title == RULES[code].title


def test_a_page_taken_apart() -> None:
    found = parse("E-GEN-004", WHOLE)
    assert found.title == "a metric inside a generator"
    assert found.what == "What is\nreported."
    assert found.why == "For this."
    assert found.bad == " (bad)\n;^^^^^ error[E-GEN-004]\n"
    assert found.good == "(good)\n## not a heading\nRelated: G1\n"
    assert found.message == ""
    assert found.instead == "- Do that."
    assert found.related == ("G20", "C9")
    assert found.files == "fixtures/pages/E-GEN-004/"
    assert "\nRelated: G1\n" in found.text
    assert "G20" not in found.text


def test_a_page_of_what_only_a_run_finds() -> None:
    text = "# E-RUN-001: x\n\nWhat.\n\n## Why\n\nWhy.\n\n## Message\n\n```text\nerror[E-RUN-001]: x\n```\n"
    assert parse("E-RUN-001", text).message == "error[E-RUN-001]: x\n"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# E-GEN-004: a", "# E-GEN-005: a", "the page must begin with `# E-GEN-004: title`"),
        ("What is\nreported.", "", "a paragraph below the title is missing"),
        ("## Why", "## Whither", "unknown section `## Whither`; there are Why, Bad, Good, Instead"),
        ("For this.", "", "`## Why` is missing"),
        ("## Instead", "## Why", "`## Why` stands twice"),
        ("## Bad", "## Message", "unknown section `## Message`; there are Why, Bad, Good, Instead"),
        ("```sx\n (bad)", "```lisp\n (bad)", "`## Bad` must hold one block that begins with ```sx"),
        ("- Do that.", "```sx\n- Do that.", "a block is not closed with ```"),
        ("(good)", "(good)\n```\n\n```sx\n(better)", "`## Good` must hold one block that begins with ```sx"),
    ],
)
def test_a_page_that_is_not_in_form(old: str, new: str, message: str) -> None:
    text = WHOLE.replace("Related: not a label inside a paragraph would be odd, so this is one\n", "")
    with pytest.raises(PageError) as caught:
        parse("E-GEN-004", text.replace(old, new, 1))
    assert str(caught.value) == f"E-GEN-004: {message}"


def test_sections_stand_in_their_order() -> None:
    text = "# E-GEN-004: x\n\nWhat.\n\n## Good\n\n```sx\n1\n```\n\n## Why\n\nWhy.\n\n## Bad\n\n```sx\n2\n```\n"
    with pytest.raises(PageError, match="in the order Why, Bad, Good, Instead"):
        parse("E-GEN-004", text)


@pytest.mark.parametrize("asked", ["E-GEN-004", "e-gen-004"])
def test_rule_shows_the_page(capsys: pytest.CaptureFixture[str], asked: str) -> None:
    assert cli.main(["rule", asked]) == 0
    out = capsys.readouterr().out
    assert out.startswith("error[E-GEN-004]: a metric inside a generator\n\n`metric` is called")
    assert '    (metric "token" (mean (cast sample :f32)))\n    ;            ^^^^^^ error[E-GEN-004]\n' in out.replace(
        " " * 12 + "(metric", "(metric"
    )
    assert "\nWhy\n\n" in out
    assert "```" not in out
    assert "Related:" not in out
    assert max(len(line) for line in out.split("\n")) <= 100


def test_rule_in_colour(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["rule", "E-GEN-004", "--color", "never"]) == 0
    plain = capsys.readouterr().out
    assert cli.main(["rule", "E-GEN-004", "--color", "always"]) == 0
    coloured = capsys.readouterr().out
    assert coloured.startswith("\x1b[1;31merror[E-GEN-004]\x1b[0m")
    assert re.sub("\x1b" + r"\[[0-9;]*m|`", "", coloured) == plain.replace("`", "")


def test_every_code_has_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    for code, rule in RULES.items():
        assert cli.main(["rule", code]) == 0
        assert capsys.readouterr().out.startswith(f"{rule.severity}[{code}]: {rule.title}\n")


def test_rule_lists_all_codes_or_those_that_begin_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["rule"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(RULES)
    assert "E-RUN-001       error        the loss or a gradient is not finite" in lines
    assert cli.main(["rule", "w-gen"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [f"W-GEN-00{n}" for n in range(1, 6)]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("E-GEM-004", "there is no code E-GEM-004; did you mean E-GEN-004?"),
        ("W-GEN-01", "there is no code W-GEN-01; did you mean W-GEN-001?"),
        ("nonsense", "there is no code nonsense; `sexpgpu rule` lists all codes"),
    ],
)
def test_rule_of_no_code(capsys: pytest.CaptureFixture[str], asked: str, answer: str) -> None:
    assert cli.main(["rule", asked]) == 2
    assert capsys.readouterr() == ("", f"sexpgpu: {answer}\n")
