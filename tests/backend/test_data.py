"""Records in a run: which come when, and what happens at the end of a source."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sexpgpu_jax.data.stages import Stages
from sexpgpu_jax.faults import RunFault
from support.programs import program_of, run
from support.tiny import tiny

SYNTHETIC = "(synthetic 10 (lambda (index) (list :x (full [3] 0.0 :f32) :y (cast index :f32))))"


def stages(source: str, more: str = "", seed: int = 0, *, shuffled: bool = True, repeat: bool = True) -> Stages:
    loader = f"(defloader train :batch 4 :fields (list :x (spec [3] :f32) :y (spec [] :f32)) :source {source} {more})"
    training = program_of(tiny(loader=loader)).training
    assert training is not None
    return Stages(training, seed, {}, shuffled=shuffled, repeat=repeat)


def read(data: Stages, position: int, rows: int = 4) -> list[float]:
    return np.asarray(data.take(0, position, rows)["y"]).tolist()


def test_every_epoch_reads_every_record_once_in_another_order() -> None:
    data = stages(SYNTHETIC)
    records = [record for position in range(0, 40, 4) for record in read(data, position)]
    epochs = [records[start : start + 10] for start in range(0, 40, 10)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(10))] * 4
    assert len({tuple(epoch) for epoch in epochs}) == 4


def test_the_order_is_a_function_of_the_seed() -> None:
    assert read(stages(SYNTHETIC), 0, 10) == read(stages(SYNTHETIC), 0, 10)
    assert read(stages(SYNTHETIC), 0, 10) != read(stages(SYNTHETIC, seed=1), 0, 10)


def test_a_record_is_the_same_one_by_one_and_in_any_batch() -> None:
    source = """(synthetic 50 (lambda (index)
      (let ((x (normal [3] :salt index)))
        (list :x (tanh (* x 1.3)) :y (sum (exp x))))))"""
    data = stages(source, shuffled=False)
    whole = data.take(0, 0, 50)
    for index in range(50):
        one = data.take(0, index, 1)
        assert all(np.array_equal(one[name][0], whole[name][index]) for name in ("x", "y"))


def test_a_source_that_does_not_repeat_ends_the_run_in_words(tmp_path: Path) -> None:
    text = tiny(
        loader=tiny().split("\n\n")[0].replace(":batch 2", ":batch 2 :repeat false"), run="(defrun :steps 9 :report-every 1)"
    )
    ran = run(tmp_path, text)
    (error,) = ran.of("error")
    assert ran.status == 1
    assert (error["code"], error["step"]) == ("E-RUN-004", 4)
    assert error["message"] == "the source ended after its 8 records, and the run asks for more"
    assert len(ran.metric("train/loss")) == 4


def test_a_mix_reads_by_weight_and_each_source_in_its_own_epochs(tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", x=np.ones((6, 3), np.float32), y=np.arange(100, 106, dtype=np.float32))
    data = stages(f'(mix (list {SYNTHETIC} 3) (list (npz "{tmp_path / "b.npz"}") 1))')
    records = [record for position in range(0, 5120, 4) for record in read(data, position)]
    counts = Counter(records)
    assert {counts[record] for record in range(10)} == {384}
    assert {counts[record] for record in range(100, 106)} == {213, 214}
    assert read(data, 1000) == records[1000:1004]


def test_a_pass_reads_in_order_and_a_mix_evenly(tmp_path: Path) -> None:
    np.savez(tmp_path / "b.npz", x=np.ones((6, 3), np.float32), y=np.arange(100, 106, dtype=np.float32))
    data = stages(f'(mix (list {SYNTHETIC} 1) (list (npz "{tmp_path / "b.npz"}") 1))', shuffled=False)
    records = read(data, 0, 8)
    assert sorted(record for record in records if record < 100) == [0, 1, 2, 3]
    assert sorted(record for record in records if record >= 100) == [100, 101, 102, 103]
    assert data.stages[0].count == 16


def test_a_source_of_no_records_is_said(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.ones((6, 3), np.float32), y=np.ones(6, np.float32))
    data = stages(f'(npz "{tmp_path / "a.npz"}" :rows [0.0 0.01])')
    with pytest.raises(RunFault, match="the source has no records"):
        read(data, 0)


def test_files_of_every_kind_train(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", x=rng.normal(size=(20, 3)).astype(np.float32), y=rng.normal(size=20).astype(np.float32))
    (tmp_path / "b.jsonl").write_text("".join(f'{{"x": [1.0, {i}], "y": {i}}}\n' for i in range(7)))
    for name, source in (("npz", '(npz "../a.npz" :rows [0.0 0.5])'), ("jsonl", '(jsonl "../b.jsonl" :pad 0.5)')):
        loader = f"(defloader train :batch 4 :fields (list :x (spec [3] :f32) :y (spec [] :f32)) :source {source})"
        ran = run(tmp_path / name, tiny(loader=loader, optimizer="(defoptimizer (sgd :lr 0.01))"))
        assert ran.status == 0, ran.of("error")
        assert len(ran.metric("train/loss")) == 3
    np.arange(400, dtype="<u2").tofile(tmp_path / "t.bin")
    text = tiny(
        loader='(defloader train :batch 4 :fields (list :t (spec [8] :i32)) :source (tokens "../t.bin" :dtype :u16 :field :t))',
        model="(defmodel model (t) (mean (* (param :w [] :init (init-ones)) (cast t :f32))))",
        objective='(defun objective (inputs ctx) (metric "loss" (model (getf inputs :t))))',
    )
    assert run(tmp_path / "tokens", text).status == 0


def test_a_missing_file_ends_the_run_before_step_0(tmp_path: Path) -> None:
    loader = '(defloader train :batch 4 :fields (list :x (spec [3] :f32) :y (spec [] :f32)) :source (npz "none.npz"))'
    ran = run(tmp_path, tiny(loader=loader))
    (error,) = ran.of("error")
    assert ran.status == 1
    assert error["code"] == "E-DATA-001"
    assert error["message"].endswith("none.npz does not exist")
    assert not ran.of("metric")
