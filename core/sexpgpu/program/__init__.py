"""A program: what the top-level forms of a file declare together.

`build` makes a `unit` of a file and its loads. `assemble` reads top to bottom: declarations by their table (`declarations`, whose
values `keys` checks), `loaders` and their `data`, the `generator`, `training` with the passes, the `optimizer`, and at the end the
`checks` that look at all graphs together. `model` is what comes out and the backend runs; `builder` is what the parts hand on,
`globals` gives names their values, `results` looks at what contract functions return.
"""
