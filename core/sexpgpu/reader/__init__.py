"""Reading: from text to forms, whatever the text is.

`grammar.lark` is the grammar; `compile` writes its terminals to `terminals`, so that reading needs no parser generator. `tokens`
makes one regular expression of them, `builder` builds a top-level form of tokens and goes on after bracket errors, `reading` cuts
the text into such forms, with `earlier` to keep those that have not changed and `documentation` for the comments above them.
`forms` is what comes out, `messages` what is said when it does not read, `indentation` guesses where a bracket is missing, and
`print` writes forms as text again.
"""

from sexpgpu.reader.reading import Reading, read

__all__ = ["Reading", "read"]
