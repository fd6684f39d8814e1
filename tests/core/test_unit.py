"""Units: loads, the names that each file sees, and names that are defined twice."""

from __future__ import annotations

import pytest

from sexpgpu.program.build import build_unit
from sexpgpu.program.cache import Cache
from sexpgpu.program.unit import provided
from sexpgpu.source import Source
from support.units import Checked, Texts, assert_drawn, checked


def at(found: Checked) -> list[tuple[str, str, str]]:
    """File, code and text of each diagnostic."""
    return [(d.span.source.name, d.code, d.span.source.text[d.span.start : d.span.end]) for d in found.diagnostics]


def test_forms_stand_in_text_order_with_loads_in_place() -> None:
    found = checked(
        '(def a 1)\n(load "lib/b.sx")\n(def d 4)\n(print a)',
        {"lib/b.sx": '(load "c.sx")\n(def b 2)\n(load "../main-parts.sx")', "lib/c.sx": "(def c 3)", "main-parts.sx": "(def e 5)"},
    )
    assert found.codes == []
    names = [entry.definition.name if entry.definition else entry.form.text for entry in found.unit.entries]
    assert names == ["a", '(load "lib/b.sx")', '(load "c.sx")', "c", "b", '(load "../main-parts.sx")', "e", "d", "(print a)"]
    assert [module.path for module in found.unit.modules] == ["lib/c.sx", "main-parts.sx", "lib/b.sx", "main.sx"]
    assert found.unit.main.path == "main.sx"


def test_a_file_sees_its_own_names_and_those_of_its_loads() -> None:
    found = checked(
        '(load "b.sx")\n(def x (list a b c))\n(def a 1)',
        {"b.sx": '(load "c.sx")\n(def b (list a c))', "c.sx": "(def c 1)\n(def d b)"},
    )
    assert at(found) == [("b.sx", "E-NAME-001", "a"), ("c.sx", "E-NAME-001", "b")]
    assert set(found.unit.main.scope) == {"a", "b", "c", "d", "x"}
    assert [set(module.scope) for module in found.unit.modules[:2]] == [{"c", "d"}, {"b", "c", "d"}]


def test_a_file_that_is_loaded_twice_is_read_once() -> None:
    files = Texts({"b.sx": '(load "d.sx")', "c.sx": '(load "./d.sx")', "d.sx": "(def d (+ 1 e))"})
    unit, findings = build_unit(Source("main.sx", '(load "b.sx")\n(load "c.sx")\n(load "b.sx")\n(def x d)'), files)
    assert findings == []
    assert files.reads == ["b.sx", "d.sx", "c.sx"]
    assert [entry.definition.name for entry in unit.entries if entry.definition] == ["d", "x"]


def test_a_defrun_of_a_loaded_file_is_skipped() -> None:
    found = checked('(load "b.sx")\n(defrun here :steps 1)', {"b.sx": "(def b 1)\n(defrun there :steps (+ nowhere 1))"})
    assert found.codes == []
    assert [definition.name for definition in found.unit.of_kind("defrun")] == ["here"]


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ('(load "nowhere.sx")', '"nowhere.sx"'),
        ('(load "secret.sx")', '"secret.sx"'),
        ('(load "main.sx")', '"main.sx"'),
        ('(load "./lib/../main.sx")', '"./lib/../main.sx"'),
        ('(load "")', '""'),
        ('(load "a\\u{0}b")', '"a\\u{0}b"'),
    ],
)
def test_a_file_that_cannot_be_loaded_is_reported_at_its_path_and_silences_names(written: str, part: str) -> None:
    found = checked(f"{written}\n(def x (from-there y))", {"secret.sx": None})
    assert at(found) == [("main.sx", "E-LOAD-001", part)]
    assert found.unit.may_hold("defmodel")


def test_a_circle_is_reported_where_it_closes() -> None:
    found = checked('(load "b.sx")\n(def a (b c))', {"b.sx": '(load "c.sx")\n(def b 1)', "c.sx": '(load "b.sx")\n(def c a)'})
    assert at(found) == [("c.sx", "E-LOAD-001", '"b.sx"')]
    assert "b.sx → c.sx → b.sx" in found.diagnostics[0].message


def test_a_load_where_none_should_stand_silences_names_in_those_that_load_the_file() -> None:
    found = checked('(load "b.sx")\n(def a lost)', {"b.sx": '(def b (progn (load "c.sx") 1))'})
    assert at(found) == [("b.sx", "E-FORM-001", "load")]


def test_only_those_that_load_a_lost_file_are_open() -> None:
    found = checked('(load "b.sx")\n(load "c.sx")\n(def a lost)', {"b.sx": '(load "nowhere.sx")', "c.sx": "(def c lost)"})
    assert at(found) == [("b.sx", "E-LOAD-001", '"nowhere.sx"'), ("c.sx", "E-NAME-001", "lost")]


def test_loads_that_nest_without_end_end() -> None:
    files: dict[str, str | bytes | None] = {f"f{index}.sx": f'(load "f{index + 1}.sx")' for index in range(400)}
    found = checked('(load "f0.sx")', files)
    assert found.codes == ["E-LOAD-001"]


def test_a_file_that_is_no_text_is_reported_in_it() -> None:
    found = checked('(load "b.sx")\n(def x lost)', {"b.sx": b"(def a 1)\n(def b \xff)"})
    assert [(d.span.source.name, d.code) for d in found.diagnostics] == [("b.sx", "E-READ-006")]


def test_an_error_in_a_loaded_file_is_reported_there_once() -> None:
    files: dict[str, str | bytes | None] = {
        "b.sx": '(load "d.sx")',
        "c.sx": '(load "d.sx")',
        "d.sx": "(def d (exp 1 2))\n(def e 12x)",
    }
    found = checked('(load "b.sx")\n(load "c.sx")', files)
    assert at(found) == [("d.sx", "E-CALL-001", "exp"), ("d.sx", "E-READ-003", "12x")]


@pytest.mark.parametrize(
    "drawn",
    [
        "(load)\n;^^^^ error[E-FORM-001]",
        "(load lib)\n;     ^^^ error[E-FORM-001]",
        '(load "a" "b")\n;         ^^^ error[E-FORM-001]',
        '(load (str "a" b))\n;     ^^^^^^^^^^^ error[E-FORM-001]',
        '(def x (load "b.sx"))\n;       ^^^^ error[E-FORM-001]\n(def y from-b)',
    ],
)
def test_a_malformed_load(drawn: str) -> None:
    assert_drawn(drawn + "\n(def z (lost 1))", {"b.sx": "(def from-b 1)"})


# Names


def test_one_name_in_each_namespace() -> None:
    found = assert_drawn("""\
(def train 1)
(defloader train :batch 1)
(defpass train :loader train :every 1)
(defun train (x) x)
;      ^^^^^ error[E-NAME-002]
(defloader train :batch 2)
;          ^^^^^ error[E-NAME-002]
(defpass train :loader train :every 2)
;        ^^^^^ error[E-NAME-002]
""")
    assert [note.span.start for d in found.diagnostics for note in d.related] == [5, 25, 50]
    assert [found.unit.main.namespace(space)["train"].kind for space in ("value", "loader", "pass")] == [
        "def",
        "defloader",
        "defpass",
    ]


def test_names_of_loads_are_taken_too() -> None:
    found = checked('(load "b.sx")\n(def a 1)\n(def b 2)', {"b.sx": "(def b 1)"})
    assert at(found) == [("main.sx", "E-NAME-002", "b")]
    assert found.diagnostics[0].related[0].span.source.name == "b.sx"


def test_what_cannot_be_redefined() -> None:
    assert_drawn("""\
(def let 1)
;    ^^^ error[E-NAME-002]
(defmodel scope (x) (let ((y x)) y))
;         ^^^^^ error[E-NAME-002]
(defun false (x) x)
;      ^^^^^ error[E-NAME-002]
(defloader if :batch 1)
(defloader nil :batch 1)
;          ^^^ error[E-FORM-001]
""")


def test_shadowing_is_a_warning_for_values_alone() -> None:
    assert_drawn("""\
(def sum 1)
;    ^^^ warning[W-NAME-001]
(defun getf (x) x)
;      ^^^^ warning[W-NAME-001]
(defmodel linear (x) x)
;         ^^^^^^ warning[W-NAME-001]
(defloader mean :batch 1)
(defpass max :every 1)
(def sum 2)
;    ^^^ error[E-NAME-002]
""")


def test_a_shadowing_definition_is_the_one_that_is_called() -> None:
    assert_drawn("""\
(defun exp (x y) (+ x y))
;      ^^^ warning[W-NAME-001]
(def a (exp 1 2))
(def b (exp 1))
;       ^^^ error[E-CALL-001]
""")


def test_the_prelude_is_read_when_one_of_its_names_is_used() -> None:
    linear = provided("linear")
    assert linear is not None
    assert linear.kind == "defun"
    assert linear.module is not None
    assert linear.module.source.builtin
    assert linear.signature is not None
    assert str(linear.signature).startswith("name x out &key")
    assert "weight" in linear.documentation
    assert provided("-normal") is None


def test_documentation_is_the_comment_above_and_the_string_inside() -> None:
    found = checked('; Twice\n; as much.\n(defun f (x) "Of x." (* 2 x))\n(defun g () "no documentation")')
    assert found.unit.main.scope["f"].documentation == "Twice\nas much.\n\nOf x."
    assert found.unit.main.scope["g"].documentation == ""


# What cannot be read is defined all the same


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("(defun f (x (+ x 1)\n(def a (f 1 2 3))", ["E-READ-001"]),
        ("(defun f (x) (+ x 1]\n(def a (f 1 2 3))", ["E-READ-002"]),
        ("(defun f x (+ x 1))\n(def a (f 1 2 3))", ["E-FORM-001"]),
        ("(defn f (x) (+ x 1))\n(def a (f 1 2 3))", ["E-FORM-001"]),
        ("(:defun f (x) (+ x 1))\n(def a (f 1 2 3))", ["E-FORM-001"]),
        ("(progn (defun f (x) (+ x 1)))\n(def a (f 1 2 3))", ["E-FORM-001"]),
        ("(def b (defun f (x) (+ x 1)))\n(def a (f 1 2 3))", ["E-FORM-001"]),
        ("(defloadr f :batch (nothing))\n(defpass p :loader f :every 1)", ["E-FORM-001"]),
        ("(defun 12f (x) x)\n(def a 1)", ["E-READ-003"]),
        ('(lod "b.sx")\n(def a (f 1 2 3))', ["E-FORM-001"]),
    ],
)
def test_a_spoilt_definition_gives_one_diagnostic(text: str, codes: list[str]) -> None:
    assert checked(text).codes == codes


def test_what_an_unread_form_may_have_been_is_known() -> None:
    def held(text: str) -> list[str]:
        unit = checked(text).unit
        return [kind for kind in ("defmodel", "defoptimizer", "defrun", "defgenerate") if unit.may_hold(kind)]

    assert held("(defmodel model (x) (+ x 1)\n(def a 1)") == ["defmodel"]
    assert held("(defoptimizr (sgd :lr 0.1))") == ["defoptimizer"]
    assert held("(defmodel model x x)") == ["defmodel"]
    assert held("(something else)") == ["defmodel", "defoptimizer", "defrun", "defgenerate"]
    assert held("42\nx") == []
    assert held("(def a 1)\n(defgenerate :trips 3)") == []


def test_an_edit_leaves_other_forms_as_they_were() -> None:
    cache = Cache()
    files: dict[str, str | bytes | None] = {"b.sx": "(def b 1)"}
    before = checked('(load "b.sx")\n(def a 1)\n(def c 3)', files, cache).unit
    after = checked('(load "b.sx")\n(def a 12)\n(def c 3)', files, cache).unit
    kept = set(before.forms) & set(after.forms)
    assert [form.text for form in after.forms if form in kept] == ['(load "b.sx")', "(def b 1)", "(def c 3)"]
    checked("(def a 1)", files, cache)
    assert len(cache.known.readings) == 1
