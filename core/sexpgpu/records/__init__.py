"""What runs have left: `record` reads the events of a run's folder, `plot` draws them as a page. Nothing here needs the backend."""

from sexpgpu.records.plot import page
from sexpgpu.records.record import EVENTS, Point, Record, read_run, run_folders

__all__ = ["EVENTS", "Point", "Record", "page", "read_run", "run_folders"]
