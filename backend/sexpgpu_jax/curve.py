"""`python -m sexpgpu_jax.curve RUN`: the training loss of a run as a small chart of text."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from sexpgpu_jax.folder import EVENTS

WIDTH, HEIGHT = 72, 16


def read_metric(folder: Path, name: str) -> list[tuple[int, float]]:
    """`(step, value)` of every event of that metric, in order; values that are not finite are left out. Raises OSError."""
    points: list[tuple[int, float]] = []
    for line in (folder / EVENTS).read_text(encoding="utf-8").splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # a run that was killed may leave half a line
            continue
        if event.get("kind") == "metric" and event.get("name") == name and event.get("value") is not None:
            points.append((event["step"], float(event["value"])))
    return points


def draw(points: list[tuple[int, float]], width: int = WIDTH, height: int = HEIGHT) -> str:
    """The points as rows of text, the mean of each column as a dot; `first` and `last` values below."""
    steps, values = zip(*points, strict=True)
    low, high = min(values), max(values)
    begin, span = steps[0], max(steps[-1] - steps[0], 1)
    columns: list[list[float]] = [[] for _ in range(width)]
    for step, value in points:
        columns[(step - begin) * (width - 1) // span].append(value)
    grid = [[" "] * width for _ in range(height)]
    for x, held in enumerate(columns):
        if held:
            share = (sum(held) / len(held) - low) / (high - low) if high > low else 0.0
            grid[height - 1 - round(share * (height - 1))][x] = "•"
    margin = max(len(f"{high:.4g}"), len(f"{low:.4g}"))
    labels = [f"{high:.4g}"] + [""] * (height - 2) + [f"{low:.4g}"]
    rows = [f"{label:>{margin}} ┤{''.join(row).rstrip()}" for label, row in zip(labels, grid, strict=True)]
    first = f"step {begin}"
    axis = f"{'':{margin}} └{'─' * width}\n{'':{margin}}  {first}{f' {steps[-1]}':>{max(width - len(first), 1)}}"
    return "\n".join([*rows, axis, f"first {values[0]:.6g} at step {steps[0]}, last {values[-1]:.6g} at step {steps[-1]}"])


def main(arguments: list[str]) -> int:
    """Print the chart; 0, or 2 where there is nothing to draw."""
    if len(arguments) not in (1, 2):
        print("usage: python -m sexpgpu_jax.curve RUN [METRIC]", file=sys.stderr)
        return 2
    folder, name = Path(arguments[0]), arguments[1] if len(arguments) == 2 else "train/loss"
    try:
        points = read_metric(folder, name)
    except OSError as error:
        print(f"{folder} is no run: {(error.strerror or str(error)).lower()}", file=sys.stderr)
        return 2
    if not points:
        print(f"{folder} has no metric {name}", file=sys.stderr)
        return 2
    print(f"{name} of {folder}\n{draw(points)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
