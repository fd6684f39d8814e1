"""The JAX backend: runs what the core has checked. `command.py` is the door; a run goes through the rest in this order.

`refuse` says what is not built yet · `runtime` sets JAX up · `data/` opens the sources · `parameters` makes first values ·
`lowering/` makes JAX of graphs · `calls` and `compiling` make one compiled program of each, before step 0 · `train` is the loop:
`step` (with `generation` and `optimizer`), then what is due of `passes`, their values put together by `reports` · `nonfinite`
finds where an infinite loss came from · `events`, `folder` and `display` tell what happens, `curve` draws it · `ctx` is how far
the run is, `signals` how it is stopped.

Nothing but the loop has a state: batches, draws and first values are functions of the seed and a position.
"""
