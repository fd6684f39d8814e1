"""Records: where they come from (`files`, `synthetic`), in which order (`order`), and how they become batches (`stages`).

A batch is a pure function of the loader, the stage and a position, so a run's place in its data is one number a stage: how many of
its records have been consumed.
"""
