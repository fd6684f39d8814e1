"""SexpGPU's core: reads `.sx` files, evaluates them statically to typed graphs, and says what is wrong, without JAX or an editor.

`analysis.analyse` is the way in: text ─`reader`▶ forms ─`program`▶ unit ─`language`▶ graphs (`graph`, by the operators of `ops`)
─`plan`▶ memory. `diagnostics` holds the rules and how they are shown; `ide`, `explain` and `cli` show what an analysis knows;
`records` reads what runs have left.
"""
