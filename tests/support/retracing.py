"""Analyses that follow a text through its edits, each with the cache of the one before, held against analyses from nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from bench.programs import run_file, transformer
from sexpgpu.analysis import Analysis, Options, analyse
from sexpgpu.ide.tokens import Layouts
from sexpgpu.program.cache import Cache
from sexpgpu.settings import SettingError
from sexpgpu.source import Source
from support.drawn import fixtures, strip
from support.edits import Desk
from support.known import everything, lasting
from support.slips import EXAMPLES
from support.typing import RUN
from support.units import Texts

_KEPT = 3

LAYERS = """\
; Parts that several files share.
(def width 16)
(def precision :f32)

; Twice as wide inside.
(defun feed (name x &key (factor 2))
  "Widens, bends, narrows."
  (scope name
    (linear :down (gelu (linear :up x (* factor width))) width)))

(defun block (i x)
  (scope i
    (+ x (feed :feed (layer-norm :norm x)))))

(defun tower (x count)
  (reduce (lambda (h i) (block i h)) (range count) x))

(defun unused-here (x) (dropout x 0.1))
"""

MAIN = """\
(load "lib/layers.sx")
(def length-of-row 6)
(def words 12)

(defloader train
  :batch 4
  :fields (list :row (spec [length-of-row] :i32) :weight (spec [] :f32))
  :source (synthetic 64 (lambda (index)
                          (list :row (mod (+ (iota [length-of-row]) (cast index :i32)) words)
                                :weight (cast (mod index 3) :f32)))))
(defloader held
  :batch 2
  :fields (list :row (spec [length-of-row] :i32) :weight (spec [] :f32))
  :source (jsonl "rows.jsonl" :pad 0))

(defmodel model (row)
  (let* ((x (embedding :words row words width))
         (x (tower x 2))
         (x (feed :last x :factor 3)))
    (linear :logits x words)))

(defgenerate
  :trips (- length-of-row 2)
  :init (lambda (batch ctx) (list :row (field batch :row)))
  :step (lambda (state trip ctx)
          (let ((guess (argmax (model (getf state :row))))
                (column (iota [1 length-of-row] :axis 1)))
            (list :row (where (= column (+ (cast trip :i32) 1)) guess (getf state :row)))))
  :finish (lambda (state ctx) (list :made (getf state :row))))

(defun prepare (batch ctx)
  (counter :words (* 4 length-of-row))
  (list :row (field batch :made) :weight (field batch :weight)))

(defun objective (inputs ctx)
  (let ((losses (cross-entropy (model (field inputs :row)) (field inputs :row))))
    (metric "loss" (mean (* losses (expand-dims (field inputs :weight) -1))))))

(defun curriculum (stage ctx observations)
  (if (null (getf observations "eval/loss")) stage 0))

(defpass eval :loader held :every 10 :batches 1
  :prepare (lambda (batch ctx) batch))
(defoptimizer (adamw :lr (lambda (ctx) (warmup-cosine ctx :peak 0.01 :warmup 5))))
(defrun loads :steps 20 :loader train :clip 1.0)
"""

ROWS = b"".join(b'{"row": [%d, 2, 3, 4, 5, 6], "weight": 0.5}\n' % (number % 7) for number in range(8))


class Differs(AssertionError):
    """The two analyses of one text do not say the same."""


class Follower:
    """Files in memory, the last of which is the one that is analysed, with what it loads. `data` holds other files by path.

    Of the last analyses it is known what they said: that must not change.
    """

    def __init__(self, files: dict[str, str], chance: random.Random | None = None, *, data: dict[str, bytes] | None = None) -> None:
        self._chance = chance or random.Random(0)
        self._desks = {path: Desk(text, self._chance) for path, text in files.items()}
        self._main = list(files)[-1]
        self.data = data or {}
        self._cache = Cache()
        self._layouts: Layouts = {}
        self._before: list[tuple[Analysis, dict[str, Any]]] = []
        self._done: list[str] = []

    def step(self) -> None:
        """Edit one of the files at random, at times with other options, and compare. Raises Differs."""
        chance = self._chance
        path = self._main if chance.random() < 0.7 else chance.choice(list(self._desks))
        if self._before:
            self._done.append(f"{path}: {self._desks[path].step()}")
        settings = {"width": chance.choice(["8", "16", "nothing"])} if chance.random() < 0.06 else {}
        ignore = frozenset(["W-NAME-001", "H-UNUSED-001"]) if chance.random() < 0.06 else frozenset[str]()
        self.compare(Options(settings, record=chance.random() < 0.9, ignore=ignore))

    def write(self, path: str, old: str, new: str) -> None:
        """Replace the first of a piece of a file, and compare. Raises Differs."""
        desk = self._desks[path]
        assert old in desk.text
        desk.text = desk.text.replace(old, new, 1)
        self._done.append(f"{path}: {old!r} became {new!r}")
        self.compare(Options(record=True))

    def become(self, text: str, what: str) -> None:
        """Make another text of the last file, and compare. Raises Differs."""
        self._desks[self._main].text = text
        self._done.append(what)
        self.compare(Options(record=True))

    def compare(self, options: Options) -> None:
        """Analyse the files as they are, with what is known and from nothing. Raises Differs."""
        seed = self._chance.random()
        self._done.append(f"settings {options.settings}, record {options.record}, ignore {[*options.ignore]}")
        fresh = self._analysed(options)
        options.cache = self._cache
        followed = self._analysed(options)
        if isinstance(fresh, str) or isinstance(followed, str):
            self._same("the setting's error", fresh, followed)
            return
        anew = everything(fresh, random.Random(seed))
        again = everything(followed, random.Random(seed), layouts=self._layouts if options.record else None)
        for expected, found in zip_longest(anew, again):
            self._same("sections" if expected is None or found is None else expected[0], expected, found)
        for earlier, said in self._before:
            for name, found in lasting(earlier).items():
                self._same(f"{name} of an earlier analysis", said[name], found)
        self._before = [*self._before[1 - _KEPT :], (followed, lasting(followed))]

    def _analysed(self, options: Options) -> Analysis | str:
        texts = {path: desk.text for path, desk in self._desks.items()}
        try:
            return analyse(Source(self._main, texts[self._main]), Texts({**self.data, **texts}), options)
        except SettingError as error:
            return str(error)

    def _same(self, what: str, expected: Any, found: Any) -> None:
        if expected != found:
            where, one, other = first_difference(expected, found)
            steps, text = "\n  ".join(self._done[-6:]), self._desks[self._main].text
            raise Differs(
                f"{what} differ at {where}:\n  anew  {one!r}\n  again {other!r}\nafter\n  {steps}\n{self._main} is now\n{text}"
            )


def two_files(chance: random.Random | None = None) -> Follower:
    """A run with a library of functions that are called from several places, and a data file."""
    return Follower({"lib/layers.sx": LAYERS, "main.sx": MAIN}, chance, data={"rows.jsonl": ROWS})


def followers(seed: int) -> Iterator[tuple[str, int, Follower]]:
    """Without end: what is edited, how many steps it is good for, and who follows it."""
    chance = random.Random(seed)
    whole = {path.name: path.read_text("utf-8") for path in sorted(EXAMPLES.glob("*.sx"))}
    whole |= {"every-part.sx": RUN, "lines.sx": run_file(130), "layers.sx": transformer(220, 3)}
    drawn = [(path, strip(path.read_bytes().decode("utf-8-sig", "replace"))[0]) for path in fixtures("diagnostics")]
    names = [*whole, *["two files"] * 4, *["fixture"] * 6]
    while True:
        for name in chance.sample(names, len(names)):
            source = random.Random(chance.random())
            if name == "two files":
                yield name, 24, two_files(source)
            elif name == "fixture":
                path, text = chance.choice(drawn)
                yield path.name, 5, Follower({path.name: text}, source)
            else:
                yield name, 16, Follower({name: whole[name]}, source)


def first_difference(one: Any, other: Any, where: str = "") -> tuple[str, Any, Any]:
    """Where two values of plain data first differ, and what stands there."""
    if type(one) is type(other):
        if isinstance(one, dict) and one.keys() == other.keys():
            for key in one:
                if one[key] != other[key]:
                    return first_difference(one[key], other[key], f"{where}[{key!r}]")
        if isinstance(one, (list, tuple)):
            for index, (left, right) in enumerate(zip(one, other, strict=False)):
                if left != right:
                    return first_difference(left, right, f"{where}[{index}]")
    return where, one, other
