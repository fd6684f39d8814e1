"""The language: what a form means.

Before evaluation: `shapes` and `special` say how each form is written, `parameters` reads parameter lists, and `static` (with
`static_walk`, `static_calls`, `static_unused`) checks every form, reached or not, and leaves `marks`.

Evaluation: `evaluator` walks forms to `values`, with `control` for special forms and `calls` for functions, models and builtins;
`frames` is where it stands, `signature` has the one binder. Builtins are tables: operators (`sexpgpu.ops`) and host functions
(`host`, with its rows in `lists`, `plists`, `texts`, `makers` and `contracts`); `guards` has what the prelude alone may call.
`attribution` decides where a finding inside the prelude is shown.
"""
