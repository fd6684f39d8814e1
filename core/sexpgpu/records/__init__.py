"""What runs have left: `record` reads the events of a run's folder, `plot` draws them as a page,
`process` tells whether a run goes on, and in which process. Nothing here needs the backend."""

from sexpgpu.records.plot import page
from sexpgpu.records.process import process_of
from sexpgpu.records.record import EVENTS, Point, Record, read_run, run_folders

__all__ = ["EVENTS", "Point", "Record", "page", "process_of", "read_run", "run_folders"]
