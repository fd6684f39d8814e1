"""References, renames and calls beyond the open documents: in closed files of the workspace, and no further."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sexpgpu.analysis import analyse
from sexpgpu.files import Texts
from sexpgpu.source import Source
from sexpgpu_lsp.uris import path_of
from support.claims import ROOT
from support.drawn import FIXTURES, fixtures, strip
from support.editor import Editor, connected, uri_for
from support.renamed import changes_of, texts_after

VERSIONED = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True))
)
PLAIN = types.ClientCapabilities()
LIBRARY = """\
(def width 4)
(defun scaled (x &key (by 2.0)) (* x by))
(defun both (state) (list :row (getf state :row) :count (getf state :count)))
(defun loss-of (inputs ctx)
  (diagnostic "words" (cast (getf ctx :stage-words) :f32))
  (metric "loss" (mean (scaled (getf inputs :value) :by 3.0))))
"""
RUN = """\
(load "lib.sx")
(defloader train :batch 4 :fields (list :x (spec [width] :f32))
  :source (synthetic 64 (lambda (index) (list :x (full [width] 1.0 :f32)))))
(defloader held :batch 4 :fields (list :x (spec [width] :f32))
  :source (synthetic 64 (lambda (index) (list :x (full [width] 2.0 :f32)))))
(defgenerate :trips 2
  :init (lambda (batch ctx) (list :row (field batch :x) :count (field batch :x)))
  :step (lambda (state trip ctx) (both state))
  :finish (lambda (state ctx) (list :row (getf state :row))))
(defun prepare (batch ctx) (counter :words 4) (list :row (field batch :row) :n (field batch :x)))
(defmodel model (x) (linear :out x width))
(defun objective (inputs ctx) (loss-of (list :value (model (getf inputs :row))) ctx))
(defpass eval :loader held :every 2)
(defoptimizer (sgd :lr (lambda (ctx) (* 0.5 (cast (getf ctx :words) :f32)))))
(defrun :steps 3 :loader train :keep-best (list "eval/loss" :min) :diagnostics ["words"])
"""


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text, "utf-8")


async def renamed(editor: Editor, uri: str, piece: str, inside: int, new: str) -> types.WorkspaceEdit:
    where = editor.position(uri, piece, inside)
    found = await editor.client.text_document_rename_async(types.RenameParams(types.TextDocumentIdentifier(uri), where, new))
    assert found is not None
    return found


async def referred(editor: Editor, uri: str, piece: str, inside: int = 0) -> list[tuple[str, int]]:
    params = types.ReferenceParams(
        types.ReferenceContext(True), types.TextDocumentIdentifier(uri), editor.position(uri, piece, inside)
    )
    found = await editor.client.text_document_references_async(params) or ()
    return [(Path(each.uri).name, each.range.start.line) for each in found]


@pytest.mark.parametrize("capabilities", [VERSIONED, PLAIN], ids=["versioned", "plain"])
async def test_closed_files_that_load_the_file_are_renamed_too(tmp_path: Path, capabilities: types.ClientCapabilities) -> None:
    """One file behind another, in a folder below; not hidden ones, ignored ones, or those that have the name from elsewhere."""
    write(
        tmp_path,
        {
            "lib.sx": "(def far 1)\n",
            "near.sx": '(load "lib.sx")\n(def here far) ; far\n',
            "deep/between.sx": '; 💡 "(load)"\n(load "../lib.sx")\n',
            "deep/end.sx": '(load "between.sx")\n(def there (print "far 💡" far))\n',
            "other.sx": "(def far 2)\n(def it far)\n",
            "ignored.sx": '(load "lib.sx")\n(def here far)\n',
            ".hidden/x.sx": '(load "../lib.sx")\n(def here far)\n',
            ".gitignore": "ignored.sx\n",
            "unsaved.sx": '(load "lib.sx")\n',
        },
    )
    async with connected(capabilities, tmp_path) as editor:
        lib = editor.open("(def far 1)\n", uri_for(tmp_path / "lib.sx"))
        unsaved = editor.open('(load "lib.sx")\n(def typed far)\n', uri_for(tmp_path / "unsaved.sx"))
        assert sorted(await referred(editor, lib, "far")) == [("end.sx", 1), ("lib.sx", 0), ("near.sx", 1), ("unsaved.sx", 1)]
        edit = await renamed(editor, lib, "far", 0, "away")
        texts = texts_after(editor, edit)
        assert texts == {
            lib: "(def away 1)\n",
            unsaved: '(load "lib.sx")\n(def typed away)\n',
            uri_for(tmp_path / "near.sx"): '(load "lib.sx")\n(def here away) ; far\n',
            uri_for(tmp_path / "deep" / "end.sx"): '(load "between.sx")\n(def there (print "far 💡" away))\n',
        }
        if capabilities is VERSIONED:
            assert {uri: version for uri, (version, _) in changes_of(edit).items()} == {
                uri: editor.versions.get(uri) for uri in texts
            }
        # What is written meanwhile is what counts, also where it is asked for again.
        (tmp_path / "near.sx").write_text('(load "lib.sx")\n(def more (+ far\n far))\n', "utf-8")
        assert texts_after(editor, await renamed(editor, unsaved, "typed far", 6, "b"))[uri_for(tmp_path / "near.sx")] == (
            '(load "lib.sx")\n(def more (+ b\n b))\n'
        )


FOLLOWED = [
    ("width", 0, [0], [1, 2, 3, 4, 10]),
    ("scaled", 0, [1, 5], []),
    ("by 2.0", 0, [1, 1, 5], []),
    ("(list :row", 7, [2, 2], [6, 8]),  # the generator's state
    ("state :count", 8, [2, 2], [6]),
    (":stage-words", 8, [4], [9, 13]),  # a counter
    ('"words"', 1, [4], [14]),  # a diagnostic
    ('"loss"', 1, [5], [14]),  # a metric
    ("inputs :value", 9, [5], [11]),  # what the run hands over
]


async def test_keys_counters_and_metrics_are_followed_into_a_closed_run(editor: Editor, tmp_path: Path) -> None:
    """From the library, which alone knows nothing of a run; and back from the run to the library."""
    write(tmp_path, {"lib.sx": LIBRARY, "run.sx": RUN})
    path = str(tmp_path / "run.sx")
    assert [each.code for each in analyse(Source(path, RUN)).diagnostics] == []
    library, run = uri_for(tmp_path / "lib.sx"), uri_for(tmp_path / "run.sx")
    for piece, inside, in_library, in_run in FOLLOWED:
        editor.open(LIBRARY, library)
        expected = {("lib.sx", line) for line in in_library} | {("run.sx", line) for line in in_run}
        assert set(await referred(editor, library, piece, inside)) == expected, piece
        prepare = types.PrepareRenameParams(types.TextDocumentIdentifier(library), editor.position(library, piece, inside))
        assert await editor.client.text_document_prepare_rename_async(prepare) is not None
        texts = texts_after(editor, await renamed(editor, library, piece, inside, "zz-new"))
        assert set(texts) == {library, *([run] if in_run else [])}
        after = {str(tmp_path / Path(uri).name): text.encode() for uri, text in texts.items()}
        assert [each.code for each in analyse(Source(path, texts.get(run, RUN)), Texts(after)).diagnostics] == [], piece
        editor.close(library)
        if in_run:
            editor.open(RUN, run)
            name = re.match(r"[\w-]+", LIBRARY[LIBRARY.index(piece) + inside :].strip(' "(:').removeprefix("stage-"))
            assert name is not None
            line = RUN.splitlines()[in_run[-1]]
            inside = line.rindex(name[0])
            assert texts_after(editor, await renamed(editor, run, line, inside, "zz-new")) == texts, piece
            editor.close(run)


@pytest.mark.parametrize(
    ("other", "new", "reason"),
    [
        ('(load "lib.sx")\n(def taken 1)\n', "taken", "other.sx: `taken` is already defined, in line 2"),
        (
            '(load "lib.sx")\n(def a (let ((x 1)) far))\n',
            "x",
            "other.sx: a use of `far` would then mean the `x` that is bound in l",
        ),
        ('(load "lib.sx")\n(def a (+ far\n', "away", "other.sx: line 2: this form does not read"),
        ('(load "lib.sx")\n(def away 1)\n(def away 2)\n', "away", "other.sx: `away` is already defined, in line 2"),
        ("", "mean", "`mean` is a function of the prelude|`mean` is an operator"),
        ("", "let", "`let` is a word of the language"),
    ],
)
async def test_a_closed_file_may_stand_in_the_way(editor: Editor, tmp_path: Path, other: str, new: str, reason: str) -> None:
    write(tmp_path, {"lib.sx": "(def far 1)\n", "other.sx": other})
    lib = editor.open("(def far 1)\n", uri_for(tmp_path / "lib.sx"))
    with pytest.raises(JsonRpcException, match=reason):
        await renamed(editor, lib, "far", 0, new)
    editor.close(lib)


async def test_what_stands_outside_of_the_workspace_is_not_touched(tmp_path: Path) -> None:
    write(tmp_path, {"far/lib.sx": "(def far 1)\n", "home/run.sx": '(load "../far/lib.sx")\n(def here far)\n'})
    async with connected(VERSIONED, tmp_path / "home") as editor:
        run = editor.open('(load "../far/lib.sx")\n(def here far)\n', uri_for(tmp_path / "home" / "run.sx"))
        with pytest.raises(JsonRpcException, match=r"lib\.sx too, which is in none of the folders that are open: open lib\.sx"):
            await renamed(editor, run, "here far", 5, "away")
        assert set(texts_after(editor, await renamed(editor, run, "here", 0, "there"))) == {run}
        # Where it is open, it may; and what stands beside it is found.
        lib = editor.open("(def far 1)\n", uri_for(tmp_path / "far" / "lib.sx"))
        assert set(texts_after(editor, await renamed(editor, run, "here far", 5, "away"))) == {run, lib}
        write(tmp_path, {"far/beside.sx": '(load "lib.sx")\n(def x far)\n'})
        assert ("beside.sx", 1) in await referred(editor, lib, "far")


async def test_a_client_without_a_folder_looks_beside_the_file(editor: Editor, tmp_path: Path) -> None:
    write(tmp_path, {"lib.sx": "(def far 1)\n", "run.sx": '(load "lib.sx")\n(def a far)\n', "deep/x.sx": '(load "../lib.sx")\n'})
    lib = editor.open("(def far 1)\n", uri_for(tmp_path / "lib.sx"))
    assert set(texts_after(editor, await renamed(editor, lib, "far", 0, "away"))) == {lib, uri_for(tmp_path / "run.sx")}
    editor.close(lib)


async def test_callers_in_closed_files_and_theirs(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "lib.sx": "(defun base (x) x)\n",
            "mid.sx": '(load "lib.sx")\n(defun middle (x) (base (base x)))\n',
            "top.sx": '(load "mid.sx")\n(defun upper (x) (middle x))\n(defmodel model (x) (linear :out (upper x) 2))\n',
        },
    )
    async with connected(VERSIONED, tmp_path) as editor:
        client = editor.client
        lib = editor.open("(defun base (x) x)\n", uri_for(tmp_path / "lib.sx"))
        where = types.CallHierarchyPrepareParams(types.TextDocumentIdentifier(lib), editor.position(lib, "base"))
        found = await client.text_document_prepare_call_hierarchy_async(where)
        assert found
        names: list[tuple[str, str, int]] = []
        item = found[0]
        while calls := await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(item)):
            assert len(calls) == 1
            item = calls[0].from_
            names.append((item.name, Path(item.uri).name, len(calls[0].from_ranges)))
        assert names == [("middle", "mid.sx", 2), ("upper", "top.sx", 1), ("model", "top.sx", 1)]
        below = await client.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(item))
        assert {each.to.name for each in below or ()} == {"linear", "upper"}


async def test_what_the_language_gives_is_found_in_closed_files(tmp_path: Path) -> None:
    write(tmp_path, {"a.sx": "(defmodel model (x) (linear :out x 2))\n", "b.sx": "; none\n"})
    async with connected(VERSIONED, tmp_path) as editor:
        uri = editor.open("(defmodel model (x) (linear :out x 3))\n", uri_for(tmp_path / "c.sx"))
        names = {name for name, _ in await referred(editor, uri, "linear")}
        assert {"a.sx", "c.sx"} <= names
        with pytest.raises(JsonRpcException, match="comes with the language"):
            await renamed(editor, uri, "linear", 0, "dense")


# Whatever is renamed, the whole set of files means the same

EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.sx"))
DRAWN = random.Random(5).sample([path for path in fixtures("diagnostics") if b"(defrun" in path.read_bytes()], 8)


def parts(text: str) -> tuple[str, str]:
    """A program in two: what one file gives, and the rest."""
    starts = [match.start() for match in re.finditer(r"^\(", text, re.MULTILINE)]
    middle = starts[len(starts) // 2]
    return text[:middle], text[middle:]


def findings(folder: Path, texts: dict[str, str], old: str, new: str) -> list[tuple[str, str, str]]:
    """What is found in the files of the folder, as if nothing had another name."""
    files = Texts({str(folder / name): text.encode() for name, text in texts.items()})
    return [
        (name, found.code, found.message.replace(new, old))
        for name, text in texts.items()
        for found in sorted(
            analyse(Source(str(folder / name), text), files).diagnostics, key=lambda each: (each.code, each.message)
        )
    ]


@pytest.mark.parametrize("path", [*EXAMPLES, *DRAWN], ids=lambda path: path.stem)
async def test_any_name_of_two_runs_and_what_they_load(editor: Editor, tmp_path: Path, path: Path) -> None:
    chance = random.Random(path.name)
    text = strip(path.read_bytes().decode("utf-8-sig"))[0] if path.is_relative_to(FIXTURES) else path.read_text("utf-8")
    library, rest = parts(text)
    texts = {"lib.sx": library, "run.sx": f'(load "lib.sx")\n{rest}', "other.sx": f'; 💡\n(load "lib.sx")\n{rest}'}
    write(tmp_path, texts)
    names = sorted(set(re.findall(r"(?<=[\s(])[a-z][a-z-]+(?=[\s)])", text)))
    name = chance.choice(["lib.sx", "run.sx"])
    uri = editor.open(texts[name], uri_for(tmp_path / name))
    places = [match.start() for match in re.finditer(r"""(?<=[\s(:\["/])[a-z]""", texts[name])]
    done = 0
    reasons: list[str] = []
    for offset in chance.sample(places, min(24, len(places))):
        new = chance.choice(["zz-new", chance.choice(names)])
        old = re.match(r"[^\s()\[\]\"';/]+", texts[name][offset:])
        assert old is not None
        try:
            edit = await renamed(editor, uri, texts[name], offset, new)
        except JsonRpcException as reason:
            reasons.append(str(reason))
            continue
        done += 1
        after = {**texts, **{Path(path_of(each) or "").name: text for each, text in texts_after(editor, edit).items()}}
        if new == "zz-new":
            before = findings(tmp_path, texts, old[0], new)
            assert findings(tmp_path, after, old[0].removeprefix("stage-"), new) == before, old[0]
        else:
            codes = [each[:2] for each in findings(tmp_path, texts, "", "\0")]
            assert [each[:2] for each in findings(tmp_path, after, "", "\0")] == codes, (old[0], new)
        if done == 6:
            break
    editor.close(uri)
    assert all(reason.count(" ") > 3 for reason in reasons)
