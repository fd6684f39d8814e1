"""What an editor, or a reader without one, is shown of an analysis: plain data in editors' words, without protocol types.

A question is asked at an offset of a file: `places` finds the forms that stand there, `types` says what they evaluated to, and
`markup` is what an answer is made of. The answers: `hover` (which draws on `words`, the tables of the language; `names`, what the
file defines; `ctx`, the run's progress; `memory` and `owned`, what a run and a call take), `definition`, `symbols` and `fixes`. `bindings` lists the types of all that is bound.

Nothing here analyses: whoever asks brings an Analysis, and that of an earlier text must not be asked any more.
"""
