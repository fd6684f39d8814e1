"""Neovim 0.11 without plugins, with the configuration of docs/editors.md, by its keys: what its user sees."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sexpgpu.analysis import analyse
from sexpgpu.format import formatted
from sexpgpu.source import Source
from support.claims import ROOT
from support.neovim import Neovim, blocks, configuration
from support.runs import alive, children, run_environment, server_for
from support.tiny import tiny

EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.sx"))
MODEL = """\
; 😀 a name with all that a name may have
(defun x-y? (x)
  (* x 2))

(defmodel model (x) ; 😀
  (let ((h😀 (linear :out (x-y? x) 3)))
    (+ h😀 (x-y? h😀))))

(def wide (x-y? (zeros [2 3])))
"""


@pytest.fixture(scope="module")
def nvim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neovim]:
    started = Neovim(tmp_path_factory.mktemp("nvim"), server_for("good"), run_environment(), configuration())
    yield started
    started.kill()


def test_the_first_block_of_the_page_is_all_that_is_needed(tmp_path: Path) -> None:
    """And when the editor is left, no server stays."""
    first = blocks()[0]
    assert first.count("\n") == 10
    nvim = Neovim(tmp_path, server_for("good"), run_environment(), first)
    try:
        nvim.edit("a.sx", "(def a (sqrt (iota [3])))\n")
        (found,) = nvim.diagnostics(bool)
        assert found["code"] == "E-DTYPE-003"
        (server,) = children(nvim.process.pid)
        nvim.quit()
        assert nvim.process.returncode == 0
        deadline = time.monotonic() + 1.0
        while alive(server):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        nvim.kill()


def test_diagnostics_stand_where_they_are_and_go_when_mended(nvim: Neovim) -> None:
    nvim.edit("diagnostics.sx", '(def s "😀名") (def a (sqrt (iota [3]))) ; 😀\n(def b (mean wid))\n')
    first, second = nvim.diagnostics(lambda all_: len(all_) == 2)
    assert (first["code"], first["piece"]) == ("E-DTYPE-003", "(iota [3])")
    assert (second["code"], second["piece"]) == ("E-NAME-001", "wid")
    assert any("sqrt" in text for text in nvim.virtual("nvim.vim.lsp.sexpgpu"))
    nvim.go("iota")
    nvim.keys("cwzeros<Esc>")
    nvim.go("wid")
    nvim.keys("cwa<Esc>")
    nvim.diagnostics(lambda all_: not all_)


def test_edits_of_all_kinds_arrive_as_they_were_made(nvim: Neovim) -> None:
    """After the last of them the diagnostics are those of the text that stands there."""
    nvim.edit("edits.sx", MODEL)
    for keys in (
        "ggdG",
        "u",
        "Gdd",
        "p",
        "ggyyGp",
        "ggVGJ",
        "u",
        ":%s/x-y?/名/g<CR>",
        "gg0i(<Esc>",
        "u",
        "GA (mean 😀)<Esc>",
        "Go)<Esc>",
    ):
        nvim.keys(keys)
    nvim.keys(":3,4d<CR>")
    text = nvim.text()
    expected = [(each.code, each.message) for each in analyse(Source("edits.sx", text)).diagnostics if each.code[0] != "H"]
    assert len(expected) > 1
    messages = {each["message"].split("\nhelp:")[0] for each in nvim.diagnostics(lambda all_: len(all_) == len(expected))}
    assert messages == {message for _, message in expected}


def test_hover_floats_above(nvim: Neovim) -> None:
    nvim.edit("hover.sx", MODEL)
    nvim.go("(x-y? (zeros", 1)
    nvim.keys("K")
    shown = nvim.float()
    assert "(defun x-y? (x))" in shown
    assert "f32[2 3]" in shown
    nvim.keys("<Esc>jk")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("(def b (x-y<C-x><C-o>|<C-n><C-y> 1))", "(def b (x-y? 1))"),
        ("(def b -rec<C-x><C-o>|<C-n><C-y>)", "(def b -recent)"),
        ("(def 名 -re)<Left><C-x><C-o>|<C-n><C-y><End> ; 😀", "(def 名 -recent) ; 😀"),
        ("(def 名 (sum x-y? :|ax<C-n><C-y> 1)) ; 😀", "(def 名 (sum x-y? :axes 1)) ; 😀"),
    ],
)
def test_what_is_accepted_takes_the_place_of_the_whole_word(nvim: Neovim, typed: str, expected: str) -> None:
    """At the bar, the list is there: asked for, or come by itself. It holds what fits, and nothing else."""
    nvim.edit("completion.sx", "(def -recent 1)\n(defun x-y? (x) x)\n\n(def c 1)\n")
    asked, chosen = typed.split("|")
    nvim.keys("3GS" + asked)
    nvim.until("return vim.fn.pumvisible() == 1")
    if asked.endswith("<C-o>"):
        assert len(nvim.lua("return vim.fn.complete_info({ 'items' }).items")) == 1
    nvim.keys(chosen + "<Esc>")
    assert nvim.text().split("\n")[2] == expected


def test_definitions_are_gone_to_also_in_the_prelude(nvim: Neovim) -> None:
    nvim.edit("definition.sx", MODEL)
    nvim.go("(x-y? h😀", 1)
    nvim.keys("<C-]>")
    nvim.until("return vim.api.nvim_win_get_cursor(0)", lambda at: at == [2, 7])
    nvim.go("linear")
    nvim.keys("<C-]>")
    nvim.until("return vim.api.nvim_get_current_line()", lambda line: line.startswith("(defun linear"))
    nvim.until("return #vim.lsp.get_clients({ bufnr = 0 })", lambda count: count == 1)
    assert nvim.diagnostics(lambda all_: not all_) == []
    nvim.keys("<C-t>")
    nvim.until("return vim.fn.expand('%:t')", lambda name: name == "definition.sx")


def rename(nvim: Neovim, name: str) -> None:
    nvim.keys("grn")
    nvim.until("return vim.api.nvim_get_mode().mode == 'c'")
    nvim.keys(f"<C-u>{name}<CR>")


def test_a_name_is_renamed_in_all_its_places(nvim: Neovim) -> None:
    nvim.edit("rename.sx", MODEL)
    nvim.go("h😀 (linear")
    rename(nvim, "new-名?")
    nvim.becomes(MODEL.replace("h😀", "new-名?"))
    nvim.go("x-y? x")
    rename(nvim, "f*")
    nvim.becomes(MODEL.replace("h😀", "new-名?").replace("x-y?", "f*"))
    nvim.diagnostics(lambda all_: not all_)


def test_a_file_is_formatted_and_its_comments_stay(nvim: Neovim) -> None:
    untidy = MODEL.replace("\n  ", "\n        ").replace("(def wide ", "(def   wide\n")
    nvim.edit("format.sx", untidy)
    nvim.lua("vim.lsp.buf.format()")
    nvim.becomes(formatted(Source("format.sx", untidy)))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_neovim_indents_as_the_formatter_does(nvim: Neovim, path: Path) -> None:
    text = path.read_text("utf-8")
    nvim.edit(path.name, text)
    nvim.keys("gg=G")
    nvim.becomes(text)


def test_a_quick_fix_is_applied(nvim: Neovim) -> None:
    nvim.edit("fix.sx", "(def 名 1)\n(def b (sqrtt (zeros [3]))) ; 😀\n")
    nvim.diagnostics(bool)
    nvim.go("sqrtt")
    nvim.lua("vim.lsp.buf.code_action({ apply = true, filter = function(action) return action.title == 'write sqrt' end })")
    nvim.becomes("(def 名 1)\n(def b (sqrt (zeros [3]))) ; 😀\n")


def test_lenses_are_shown_and_pressed(nvim: Neovim) -> None:
    nvim.edit("lens.sx", tiny(run="(defrun small :steps 4)"))
    shown = "return vim.tbl_map(function(lens) return lens.command.title end, vim.lsp.codelens.get(0))"
    titles = nvim.until(shown, lambda all_: len(all_) >= 3)
    assert titles[:2] == ["▶ Run", "Explain"]
    assert any("▶ Run | Explain | peak memory" in text for text in nvim.virtual("nvim.lsp.codelens"))
    nvim.go("(defrun")
    nvim.keys("grl1<CR>")
    nvim.until("return vim.fn.execute('messages')", lambda said: "run small: finished at step 4 · loss 0.25" in said)
    nvim.go("(defrun")
    nvim.keys("grl2<CR>")
    nvim.until("return vim.fn.expand('%:t')", lambda name: name == "lens explained.txt")
    assert "small" in nvim.text()


def test_a_run_is_started_by_a_command(nvim: Neovim) -> None:
    nvim.edit("command.sx", tiny(run="(defrun other :steps 4)"))
    nvim.keys(":messages clear<CR>:SexpgpuRun 3<CR>")
    nvim.until("return vim.fn.execute('messages')", lambda said: "run other: finished" in said)


def test_hints_colours_folds_and_the_outline(nvim: Neovim) -> None:
    nvim.edit("shown.sx", MODEL)
    hints = nvim.until("return vim.tbl_map(function(hint) return hint.inlay_hint.label end, vim.lsp.inlay_hint.get({ bufnr = 0 }))")
    assert ": f32[2 3]" in hints
    at = MODEL[: MODEL.index("(x-y? x)")].count("\n")
    column = len("  (let ((h😀 (linear :out (x-y? ".encode())
    groups = f"return vim.tbl_map(function(mark) return mark.opts.hl_group end, vim.inspect_pos(0, {at}, {column}).semantic_tokens)"
    assert "@lsp.type.parameter.sexpgpu" in nvim.until(groups)
    nvim.until("return vim.fn.foldlevel(3) > 0")
    nvim.keys("zM")
    assert nvim.until("return { vim.fn.foldclosed(3), vim.fn.foldclosedend(3) }", lambda ends: ends[0] > 0) == [2, 3]
    nvim.keys("zRgO")
    outline = nvim.until("return vim.tbl_map(function(row) return row.text end, vim.fn.getloclist(0))")
    assert [text.split("] ")[-1] for text in outline if "model" in text or "x-y?" in text]
    nvim.keys("<C-\\><C-n>:lclose<CR>")


def test_the_signature_of_the_call_that_is_written(nvim: Neovim) -> None:
    nvim.edit("signature.sx", "; 😀\n(def s )\n")
    nvim.go("s )", 2)
    nvim.keys("i(roll (zeros [3]) <C-s>")
    assert "roll" in nvim.float()
    nvim.keys("<Esc><Esc>")


def test_settings_take_effect_at_once(nvim: Neovim) -> None:
    nvim.edit("settings.sx", MODEL)
    labels = "return vim.tbl_map(function(hint) return hint.inlay_hint.label end, vim.lsp.inlay_hint.get({ bufnr = 0 }))"
    nvim.until(labels, lambda all_: ": f32[2 3]" in all_)
    change = """
        local client = vim.lsp.get_clients({ bufnr = 0 })[1]
        client.settings = { sexpgpu = { inlayHints = { shapes = %s } } }
        client:notify("workspace/didChangeConfiguration", { settings = client.settings })
    """
    nvim.lua(change % "false")
    nvim.until(labels, lambda all_: ": f32[2 3]" not in all_)
    nvim.lua(change % "true")
    nvim.until(labels, lambda all_: ": f32[2 3]" in all_)


def test_nothing_was_an_error_of_neovim(nvim: Neovim) -> None:
    """Not a message of all the tests before; they ran in one Neovim."""
    said = nvim.lua("return vim.fn.execute('messages')")
    assert "Error" not in said
    assert "E5108" not in said
    nvim.quit()
    assert nvim.process.returncode == 0
