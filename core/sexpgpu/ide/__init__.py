"""What an editor, or a reader without one, is shown of an analysis: plain data in editors' words, without protocol types.

A question is asked at an offset of a file: `places` finds the forms that stand there, `types` says what they evaluated to, and
`markup` is what an answer is made of. The answers: `hover` (which draws on `words`, the tables of the language; `names`, what the
file defines; `ctx`, the run's progress; `literals`; `facts`, what is said beside a type; `ways`, the calls of a function, as one
writes them; `memory` and `owned`, what a run and a call take),
`definition`, `symbols`, `tokens`, `hints` and `lenses`. `bindings` lists the types of all that is bound.

Where one thing stands: `occurrences`, of names, of the keys that `keyflow` follows from where they are written to where they are
read (what the runtime has `handed` to functions among it), and of the names of `reports`, which `reporters` join; training and each
pass, whose functions those are, are `owners`. `rename` says whether it may have another name, and `callers` who calls it.
`folding`, `selection`, `links` and `search` look at the text alone.

What stands at a place of a text that is being typed: `cursor` reads up to it, `roles` says what it is for, `recall` what the last
analyses knew there, `drift` how far the text has moved on from them. From these: `completion` (of `candidates`, `snippets`, what
is `quoted` and what single places have `asked` for), with `arguments` `signatures`, and `glimpse`, for hovers and definitions in a
form that does not read.

Nothing here analyses: whoever asks brings an Analysis, and that of an earlier text must not be asked any more, but by `recall`.
"""
