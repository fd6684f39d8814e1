"""The formatter: white space in place, nothing else moved.

It is no pretty printer: where a line ends is the author's choice. Tokens and comments are never touched, and neither is a text that
does not read. What is changed, and by which rule (`styles` is the table that says it for each head):

*Columns.* A part that begins a line stands
- 2 behind the bracket in a body: `defun`, `defmodel`, `lambda`, `let`, `dotimes`, `scope`, `when`, …; what belongs on the head's
  line there (a name, parameters, bindings, a condition) stands 4 in, should it begin a line;
- 2 behind the bracket in a declaration (`defloader`, `defrun`, …), or below its first key, where that stands beside a head without
  name; a declaration of more than one line has each key on a line of its own;
- below the first argument in a call, `if`, `cond`, `list` and all else, where that argument stands beside the head; if not, 2 in,
  or 1 where the head is no name;
- 1 behind the bracket in a vector, a quoted list, bindings, parameters and the clauses of `cond`;
- 2 behind its key, if it is a value.
A comment on a line of its own stands where the part behind it does. The lines inside strings and block comments stay.

*Lines.* Closers are drawn up to the last part, past a comment at the end of its line, but never past one on a line of its own. A
head is drawn up to its bracket, a form to its quote, and a value that fits on its key's line to the key. Each top-level form
begins a line. Blank lines: one inside forms, two between them, none at the start and the end. Each line keeps its kind of line
end; the last one has one.

*Width.* A list on one line that reaches beyond column 100 (a wide character takes two) is broken before each of its parts,
outermost list first (atoms stay beside the head of a call, a value beside its key); one that has line breaks, and a vector, gets
another before a part that reaches beyond. Comments may be of any length.

*Spaces.* One between parts, none inside brackets and behind quotes. The spaces in front of a comment at the end of a line stay:
it may be one of a column. Tabs before it, and at the start of lines, become spaces.

A line that silences diagnostics (`; sexpgpu: ignore[…]`) keeps what stands on it: it is neither broken nor joined.

`pieces` reads a text as tokens, brackets and comments and settles the lines that depend on nothing else; `layout` finds columns,
and lines that depend on width; `edits` are the differences; `newline` is for the line that is being typed.
"""

from sexpgpu.format.edits import apply_edits, format_edits, formatted
from sexpgpu.format.newline import indent_for
from sexpgpu.format.styles import WIDTH

__all__ = ["WIDTH", "apply_edits", "format_edits", "formatted", "indent_for"]
