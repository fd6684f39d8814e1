"""What a run takes of the device's memory, from the graphs alone.

`liveness` finds the largest set of buffers that a graph holds at once, forward and with its gradient; `memory` puts the phases of
a run together and is the one door to the figures.
"""

from sexpgpu.plan.memory import Phase, Plan, plan_memory

__all__ = ["Phase", "Plan", "plan_memory"]
