"""The run: steps, passes and what is decided on them, from step 0 to the last.

The host stays one step ahead of the device: a step's gradient is under way before the step in front of it is settled (was it
finite? what did it measure?), and its update is only sent once that is known.
"""

from __future__ import annotations

import copy
import logging
import time
from typing import Any, NamedTuple, Protocol

import jax
import numpy as np

from sexpgpu.diagnostics import rules
from sexpgpu.program.model import Loader, Program
from sexpgpu_jax.calls import DeviceCall
from sexpgpu_jax.compiling import compile_all
from sexpgpu_jax.ctx import Progress
from sexpgpu_jax.data.stages import Opened, Stages
from sexpgpu_jax.display import Display, Pace
from sexpgpu_jax.events import Events
from sexpgpu_jax.faults import RunFault
from sexpgpu_jax.lowering.table import jnp_dtype
from sexpgpu_jax.nonfinite import first_cause
from sexpgpu_jax.optimizer import Rule
from sexpgpu_jax.parameters import Store, initialize
from sexpgpu_jax.passes import Evaluation
from sexpgpu_jax.reports import reduce, together
from sexpgpu_jax.step import Step, Work
from sexpgpu_jax.whole import whole

LOG = logging.getLogger("sexpgpu_jax")


class Looks(Protocol):
    """Raises Stopped once the run was asked to stop."""

    def look(self) -> None: ...


class Pending(NamedTuple):
    """A step that was sent to the device and is not settled yet: how far the run was before it, and its work."""

    before: Progress
    work: Work


class Training:
    """A program that is being trained. Building it opens the data, makes the parameters and compiles everything."""

    def __init__(self, program: Program, events: Events, display: Display, signals: Looks) -> None:
        run, training = whole(program.run), whole(program.training)
        self.program = program
        self._events = events
        self._display = display
        self._look = signals.look
        self._on_nan = run.keyword("on-nan")
        self._report_every = run.integer("report-every")
        self._diagnostics_every = run.integer("diagnostics-every")
        seed = run.integer("seed")
        self.progress = Progress(seed, run.integer("steps"), len(training.sources or ()), len(program.counters))
        self._opened: Opened = {}
        self._data = Stages(training, self.progress.seed, self._opened, shuffled=training.shuffle, repeat=training.repeat)
        self._look()
        self.store: Store = initialize(program, self.progress.seed)
        self._look()
        rule = Rule(program)
        self._state: Any = jax.jit(rule.init)(self.store.trained)
        self._step = Step(program, self.store, self._state, rule, self.progress, batch_types(training))
        self._passes = [self._evaluation(name) for name in program.passes]
        self.calls: list[DeviceCall] = [*self._step.calls, *(call for each in self._passes for call in each.calls)]
        self._pending: Pending | None = None
        self._clock = _Clock()

    def _evaluation(self, name: str) -> Evaluation:
        declared = self.program.passes[name]
        loader = whole(declared.loader)
        data = Stages(loader, self.progress.seed, self._opened, shuffled=False, repeat=True)
        return Evaluation(self.program, declared, self.store, self.progress, data, batch_types(loader))

    def compile(self) -> None:
        """Compile every device call, so that nothing fails to compile once the run is under way."""
        compile_all(self.calls, self._look)

    def run(self) -> None:
        """Train. Raises Stopped where a signal came, RunFault where the run cannot go on; `progress` is the last whole step's."""
        self._clock.start(self.progress)
        ended = self._evaluate(last=False)
        while self.progress.step < self.progress.steps and not ended:
            self._take_step()
            step = self.progress.step
            last = step == self.progress.steps
            if last or self._wanted(step):
                self._settle()
            if last or any(each.due(step) for each in self._passes):
                ended = self._evaluate(last=last)
        if ended and self.progress.step < self.progress.steps:
            self._annotate(self.progress.step, self.progress.stage, "stopped by :stop-when")

    # Steps

    def _take_step(self) -> None:
        before = self.progress
        number = before.step + 1
        work = self._step.forward(self.store, before, self._data, self._look, diagnose=number % self._diagnostics_every == 0)
        self._settle()
        self._look()
        self.store, self._state = self._step.update(self.store, self._state, before, work)
        self.progress = copy.copy(before)
        self.progress.positions = list(before.positions)
        self.progress.commit(work.records, work.counters)
        self._pending = Pending(before, work)

    def _wanted(self, step: int) -> bool:
        """Whether a report, or a pass, is due at a step, so that it has to be settled at once."""
        return step % self._report_every == 0 or any(each.due(step) for each in self._passes)

    def _settle(self) -> None:
        """Wait for the step that was sent last: was it finite, and what did it measure?"""
        pending, self._pending = self._pending, None
        if pending is None:
            return
        work, step = pending.work, pending.before.step + 1
        if self._on_nan != "ignore":
            bad = int(np.asarray(jax.block_until_ready(work.bad)))
            if bad >= 0:
                self._not_finite(pending, bad)
        stage = pending.before.stage
        if step % self._report_every == 0 or step == self.progress.steps:
            self._report(step, stage, work)
        if work.diagnostics:
            for name, value in reduce(self._step.diagnostics, together(work.diagnostics, len(self._step.diagnostics))).items():
                self._events.emit("diagnostic", step, name=f"train/{name}", value=value)

    def _report(self, step: int, stage: int, work: Work) -> None:
        jax.block_until_ready(work.metrics)
        values = reduce(self._step.metrics, together(work.metrics, len(self._step.metrics)))
        for name, value in values.items():
            self._events.emit("metric", step, name=f"train/{name}", value=value, stage=stage)
        pace = self._clock.pace(self.progress, self._tokens())
        rates: dict[str, Any] = {"records_per_second": pace.records_per_second}
        if pace.tokens_per_second is not None:
            rates["tokens_per_second"] = pace.tokens_per_second
        times = {"step_seconds": pace.step_seconds, "eta_seconds": pace.eta_seconds}
        self._events.emit("progress", step, steps=self.progress.steps, **rates, **times)
        self._display.report(step, float(values["loss"]) if "loss" in values else None, pace)

    def _tokens(self) -> int | None:
        """The counter `:tokens` of the whole run, where there is one."""
        counters = self.program.counters
        return int(np.asarray(self.progress.counters)[0, counters.index("tokens")]) if "tokens" in counters else None

    def _not_finite(self, pending: Pending, microbatch: int) -> None:
        step = pending.before.step + 1
        where = f"step {step}, microbatch {microbatch}"
        if self._on_nan == "skip":
            self._annotate(step, pending.before.stage, f"update skipped: not finite at {where}")
            LOG.warning("update skipped: not finite at %s", where)
            return
        self.progress = pending.before
        cause = first_cause(self.program, self.store, pending.before, self._step.batch, self._data, microbatch)
        help = "try a smaller :lr, or a :clip; :on-nan :skip drops such an update and goes on"
        raise RunFault(rules.RUN_NOT_FINITE, f"{cause.what} is not finite at {where}: {cause.began}", cause.at, help)

    # Passes

    def _evaluate(self, *, last: bool) -> bool:
        """Run the passes that are due, in file order, the curriculum after each; whether the run ends here."""
        step = self.progress.step
        ended = False
        ran: list[Evaluation] = []
        for each in self._passes:
            if last or each.due(step):
                ran.append(each)
                ended = self._evaluate_one(each, last=last) or ended
        if ended and not last:  # the run's last step is this one: what was not due runs too
            for each in self._passes:
                if each not in ran:
                    self._evaluate_one(each, last=True)
        return ended

    def _evaluate_one(self, each: Evaluation, *, last: bool) -> bool:
        began = time.perf_counter()
        step, stage = self.progress.step, self.progress.stage
        observations = each.run(self.store, self.progress, self._look)
        for name, value in observations.items():
            self._events.emit("metric", step, name=name, value=value, stage=stage)
        measured = "  ".join(f"{name} {value:.6g}" for name, value in observations.items())
        self._display.note(step, measured or f"{each.name} has run")
        ends = False
        if not last:
            moved = each.next_stage(self.store, self.progress, observations)
            if moved != stage:
                self._annotate(step, moved, f"stage {stage} -> {moved}")
                self.progress.enter(moved)
            ends = each.ends(self.store, self.progress, observations)
        self._events.emit("metric", step, name="curriculum/stage", value=self.progress.stage, stage=self.progress.stage)
        LOG.info("pass %s at step %d: %s", each.name, step, measured)
        self._clock.pause(time.perf_counter() - began)
        return ends

    def _annotate(self, step: int, stage: int, text: str) -> None:
        self._events.emit("annotation", step, stage=stage, text=text)
        self._display.note(step, text)

    def parameters(self) -> dict[str, Any]:
        """Every parameter's value by path, once the device has it."""
        values = {**self.store.fixed, **self.store.trained}
        return {path: np.asarray(jax.block_until_ready(values[path])) for path in sorted(values)}


class _Clock:
    """Measures the pace of training, without the time that passes take."""

    def start(self, progress: Progress) -> None:
        self._since = time.perf_counter()
        self._steps = progress.step
        self._records = progress.records
        self._tokens = 0

    def pause(self, seconds: float) -> None:
        """So many seconds went into something else."""
        self._since += seconds

    def pace(self, progress: Progress, tokens: int | None) -> Pace:
        """The pace since it was last asked."""
        now = time.perf_counter()
        seconds = max(now - self._since, 1e-9)
        steps = max(progress.step - self._steps, 1)
        records = (progress.records - self._records) / seconds
        rate = None if tokens is None else (tokens - self._tokens) / seconds
        self._since, self._steps, self._records, self._tokens = now, progress.step, progress.records, tokens or 0
        return Pace(seconds / steps, records, rate, seconds / steps * (progress.steps - progress.step))


def batch_types(loader: Loader, stack: int = 1) -> dict[str, jax.ShapeDtypeStruct]:
    """The types of a device call's batch, `stack` microbatches behind each other."""
    rows, fields = stack * whole(loader.batch), whole(loader.fields)
    return {name: jax.ShapeDtypeStruct((rows, *field.shape), jnp_dtype(field.dtype)) for name, field in fields.items()}
