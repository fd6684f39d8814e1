"""A run as a page: curves of its metrics, its stages and what was noted on the way.

One HTML text that needs nothing else, no script either, so that it can be shown where scripts are not allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import floor, log10

from sexpgpu.records.record import CHECKPOINT, Point, Record

_WIDTH, _HEIGHT = 720.0, 260.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 78.0, 28.0, 18.0, 30.0
_BUCKETS = 400  # of each the least and the greatest value are drawn
_MARKED = 60  # so few points are drawn one by one too
_MEAN = 50  # points of the mean of a curve that has too many to see through
STAGE = "curriculum/stage"
_GREATEST = 1e300
_COLOURS = 6

_STYLE = """
:root { color-scheme: light dark; --ink: #24292f; --faint: #d0d7de; --page: #ffffff; --band: #57606a14;
  --c0: #0969da; --c1: #bc4c00; --c2: #1a7f37; --c3: #8250df; --c4: #bf3989; --c5: #7d4e00; }
@media (prefers-color-scheme: dark) { :root { --ink: #d1d7e0; --faint: #3d444d; --page: #0d1117; --band: #9198a11f;
  --c0: #58a6ff; --c1: #f0883e; --c2: #56d364; --c3: #bc8cff; --c4: #f778ba; --c5: #e3b341; } }
body { font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page);
  margin: 1.5rem auto; max-width: 760px; padding: 0 1rem; }
h1 { font-size: 1.3rem; margin: 0; } h2 { font-size: 1rem; margin: 1.5rem 0 0; } p { margin: .25rem 0; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--ink); }
.grid { stroke: var(--faint); stroke-width: 1; } .note { stroke: var(--ink); stroke-dasharray: 3 3; opacity: .55; }
.band { fill: var(--band); } .curve { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.raw { opacity: .3; stroke-width: 1; } .axis { stroke: var(--ink); stroke-width: 1; } .kept { fill: var(--ink); }
.key { margin-right: 1rem; white-space: nowrap; } .fact { white-space: nowrap; } .path { overflow-wrap: anywhere; }
.key i { display: inline-block; width: .9em; height: .2em; vertical-align: middle; margin-right: .4em; }
.error { border-left: 3px solid #cf222e; padding-left: .6rem; white-space: pre-wrap; }
table { border-collapse: collapse; } td { padding: 0 1rem 0 0; vertical-align: top; }
"""


def page(record: Record) -> str:
    """The page of a run. Curves of one name are drawn together: `train/loss` and `eval/loss`, each in its colour."""
    parts = [f"<h1>{escape(record.name)}</h1>", f"<p>{_summary(record)}</p>"]
    parts += [f'<p class="error">step {step}: {escape(message)}</p>' for step, message in record.errors]
    groups: dict[str, dict[str, list[Point]]] = {}
    for name, points in record.curves.items():
        if name != STAGE or len({point.value for point in points}) > 1:
            groups.setdefault(name.partition("/")[2] or name, {})[name] = points
    last = max([record.step, 1, *(point.step for points in record.curves.values() for point in points)])
    for title, curves in groups.items():
        parts.append(f"<h2>{escape(title)}</h2>")
        parts.append(_chart(record, title, curves, last))
        parts.append(f"<p>{''.join(_key(index, name, points) for index, (name, points) in enumerate(curves.items()))}</p>")
    if not groups:
        parts.append("<p>no metric has been reported</p>")
    if record.annotations:
        rows = "".join(f"<tr><td>{step}</td><td>{escape(text)}</td></tr>" for step, text in record.annotations)
        parts.append(f"<h2>notes</h2><table>{rows}</table>")
    head = f'<meta charset="utf-8"><title>{escape(record.name)}</title><style>{_STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _summary(record: Record) -> str:
    steps = f" of {record.steps}" if record.steps else ""
    began = record.started[:19].replace("T", " ") + " UTC" if record.started else ""
    facts = [record.state or "no event yet", f"step {record.step}{steps}", ", ".join(record.devices), began]
    shown = [f'<span class="fact">{escape(fact)}</span>' for fact in facts if fact]
    if record.file:
        shown.insert(2, f'<span class="path">{escape(record.file)}</span>')
    return " · ".join(shown)


def _key(index: int, name: str, points: Sequence[Point]) -> str:
    values = [point.value for point in points if point.value is not None]
    lost = len(points) - len(values)
    last = f" {values[-1]:.4g}" if values else ""
    more = f", {lost} not finite" if lost else ""
    colour = f"var(--c{index % _COLOURS})"
    return f'<span class="key"><i style="background:{colour}"></i>{escape(name)}{last}{more}</span>'


def _chart(record: Record, title: str, curves: dict[str, list[Point]], last: int) -> str:
    values = [_bounded(point.value) for points in curves.values() for point in points if point.value is not None]
    least, greatest = (min(values), max(values)) if values else (0.0, 1.0)
    if least == greatest:
        around = abs(least) * 0.1 or 1.0
        least, greatest = least - around, greatest + around

    def x(step: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * step / last

    def y(value: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (greatest - value) / (greatest - least)

    parts: list[str] = []
    stages = record.stages
    for index, (step, stage) in enumerate(stages):
        end = stages[index + 1][0] if index + 1 < len(stages) else last
        if index % 2:
            size = f'width="{x(end) - x(step):.1f}" height="{_HEIGHT - _TOP - _BOTTOM}"'
            parts.append(f'<rect class="band" x="{x(step):.1f}" y="{_TOP}" {size}/>')
        parts.append(f'<text x="{x(step) + 3:.1f}" y="{_TOP - 5}">stage {stage}</text>')
    values = ticks(least, greatest) if values else []
    for value, label in zip(values, labels(values), strict=True):
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{label}</text>')
    for step in ticks(0, last):
        if step == int(step):
            parts.append(f'<text x="{x(step):.1f}" y="{_HEIGHT - 12}" text-anchor="middle">{step:.6g}</text>')
    floor_ = _HEIGHT - _BOTTOM
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{floor_}" y2="{floor_}"/>')
    parts.append(f'<text x="{_LEFT - 14}" y="{_HEIGHT - 12}" text-anchor="end">step</text>')
    for step, text in record.annotations:
        tip = f"<title>step {step}: {escape(text)}</title>"
        if text.startswith(CHECKPOINT):
            corners = f"{x(step) - 3:.1f},{floor_ + 6} {x(step) + 3:.1f},{floor_ + 6} {x(step):.1f},{floor_}"
            parts.append(f'<polygon class="kept" points="{corners}">{tip}</polygon>')
        else:
            parts.append(f'<line class="note" x1="{x(step):.1f}" x2="{x(step):.1f}" y1="{_TOP}" y2="{floor_}">{tip}</line>')
    for index, (name, points) in enumerate(curves.items()):
        colour = f"var(--c{index % _COLOURS})"
        for piece in _pieces(points):
            marked = [(x(point.step), y(_bounded(point.value or 0.0))) for point in piece]
            long = len(piece) > 2 * _BUCKETS
            drawn = [(x(point.step), y(_bounded(point.value or 0.0))) for point in _thinned(piece)] if long else marked
            if name == STAGE:  # it is in one until it is in the next
                drawn = [at for number, at in enumerate(drawn) for at in ((at[0], drawn[max(0, number - 1)][1]), at)]
            parts.append(_line(drawn, colour, "curve raw" if long else "curve"))
            if long:
                parts.append(_line([(x(step), y(value)) for step, value in _means(piece)], colour, "curve"))
            if len(points) <= _MARKED:
                for point, (across, down) in zip(piece, marked, strict=True):
                    tip = f"<title>step {point.step}: {point.value:.6g}</title>"
                    parts.append(f'<circle cx="{across:.1f}" cy="{down:.1f}" r="2.5" fill="{colour}">{tip}</circle>')
    label = f'role="img" aria-label="{escape(title)}"'
    return f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" {label}>{"".join(parts)}</svg>'


def _line(points: Sequence[tuple[float, float]], colour: str, kind: str) -> str:
    corners = " ".join(f"{across:.1f},{down:.1f}" for across, down in points)
    return f'<polyline class="{kind}" stroke="{colour}" points="{corners}"/>'


def _means(points: Sequence[Point]) -> list[tuple[float, float]]:
    """The mean step and value of each of some equal parts of the points."""
    means: list[tuple[float, float]] = []
    for number in range(_MEAN):
        part = points[number * len(points) // _MEAN : (number + 1) * len(points) // _MEAN]
        values = [_bounded(point.value or 0.0) / len(part) for point in part]
        means.append((sum(point.step for point in part) / len(part), sum(values)))
    return means


def _pieces(points: Sequence[Point]) -> list[list[Point]]:
    """The points as lines, broken where a value is not finite."""
    pieces: list[list[Point]] = [[]]
    for point in points:
        if point.value is None:
            pieces.append([])
        else:
            pieces[-1].append(point)
    return [piece for piece in pieces if piece]


def _thinned(points: Sequence[Point]) -> list[Point]:
    """Not more points than can be told apart, the extremes among them."""
    kept: list[Point] = [points[0]]
    for bucket in range(_BUCKETS):
        inside = points[bucket * len(points) // _BUCKETS : (bucket + 1) * len(points) // _BUCKETS]
        ends = {min(inside, key=lambda point: point.value or 0.0), max(inside, key=lambda point: point.value or 0.0)}
        kept += sorted(ends, key=lambda point: point.step)
    return [*kept, points[-1]]


def ticks(least: float, greatest: float) -> list[float]:
    """Some four to nine round numbers from `least` to `greatest`."""
    rough = (greatest - least) / 5
    if rough <= 0:
        return [least]
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first = floor(least / step + 0.999999)
    return [tick for number in range(first, first + 12) if (tick := number * step) <= greatest + step * 1e-6]


def labels(values: Sequence[float]) -> list[str]:
    """Numbers in as few digits, four at least, as tell them apart."""
    for digits in range(4, 17):
        shown = [f"{value:.{digits}g}" for value in values]
        if len(set(shown)) == len(set(values)):
            return shown
    return [repr(value) for value in values]


def _bounded(value: float) -> float:
    return max(-_GREATEST, min(_GREATEST, value))
