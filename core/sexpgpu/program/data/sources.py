"""A source held against its loader: its arguments, its file, and how many records it has."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.files import Files, beside
from sexpgpu.graph.nodes import typed
from sexpgpu.language.dtypes import DTYPES, DType
from sexpgpu.language.values import Keyword, List, Made, Nil, Unknown, Value, is_number, kind_of
from sexpgpu.program.builder import Builder
from sexpgpu.program.model import Loader

_MOST_JSONL = 16 * 2**20


def check_source(builder: Builder, loader: Loader, source: Made) -> None:
    """Check a file source: its arguments (E-TYPE-001), that its file is there (W-DATA-001) and holds the fields (E-DATA-001)."""
    at = source.forms.get("path", source.form)
    path = source.arguments.get("path")
    if isinstance(path, Unknown) or not _arguments(builder, source):
        return
    if not isinstance(path, str):
        wanted = f"`{source.name}` needs the path of a file, and this is {kind_of(path or source)}"
        builder.evaluator.report(rules.TYPE_KIND, at, wanted, "write it as a string")
        return
    file = beside(source.form.top.source.name, path)
    try:
        problem = _problem(builder.files, file, loader, source)
    except FileNotFoundError:
        builder.evaluator.report(
            rules.DATA_MISSING, at, f"the data file {path} does not exist here", "a path is relative to the file that writes it"
        )
        return
    except OSError as error:
        problem = f"it cannot be read: {(error.strerror or str(error)).lower()}"
    if problem:
        builder.evaluator.report(
            rules.DATA_CONTENT,
            at,
            f"{path} does not hold what the loader `{loader.name}` asks for: {problem}",
            "declare :fields as the file has them, and cast or reshape in `prepare`",
        )


def _arguments(builder: Builder, source: Made) -> bool:
    """Whether the keywords of a source have values that it takes."""
    for name, value in source.arguments.items():
        wanted = _wanted(name, value)
        if wanted and not isinstance(value, Unknown):
            at = source.forms.get(name, source.form)
            builder.evaluator.report(rules.TYPE_KIND, at, f":{name} of `{source.name}` is {wanted}, and this is {kind_of(value)}")
            return False
    return not any(isinstance(value, Unknown) for value in source.arguments.values())


def _wanted(name: str, value: Value) -> str:
    """What an argument should be, where the value is not that."""
    if name == "rows" and not isinstance(value, Nil):
        return "" if _are_rows(value) else "a vector of two counts, or of two fractions, the first the smaller: [0 0.9]"
    if name == "dtype" and not (isinstance(value, Keyword) and value.name in DTYPES and DTYPES[value.name].is_integer):
        return "an integer dtype, such as :u16"
    if name == "field" and not isinstance(value, Keyword):
        return "the name of a field"
    if name == "pad" and not is_number(value):
        return "a number"
    return ""


def _are_rows(value: Value) -> bool:
    if not isinstance(value, List) or len(value.items) != 2:
        return False
    start, stop = value.items
    if not isinstance(start, (int, float)) or not isinstance(stop, (int, float)) or not is_number(start) or not is_number(stop):
        return False
    fractions = isinstance(start, float) or isinstance(stop, float)
    return 0 <= start < stop and (not fractions or stop <= 1)


def row_range(source: Made, count: int) -> tuple[int, int]:
    """Which of a file's records a source takes: `:rows` as counts, or as fractions where either end is written as a float."""
    rows = source.arguments.get("rows")
    if not isinstance(rows, List) or not _are_rows(rows):
        return 0, count
    ends = [end for end in rows.items if isinstance(end, (int, float))]
    if any(isinstance(end, float) for end in ends):
        ends = [round(end * count) for end in ends]
    start, stop = (min(int(end), count) for end in ends)
    return start, stop


def _problem(files: Files, path: str, loader: Loader, source: Made) -> str:
    """What a file lacks; empty if nothing. Raises OSError."""
    if loader.fields is None:
        files.size(path)
        return ""
    if source.name == "npz":
        return _npz_problem(files, path, loader)
    if source.name == "tokens":
        return _tokens_problem(files, path, loader, source)
    if source.name == "jsonl":
        return _jsonl_problem(files, path, loader)
    files.size(path)
    return ""


def _npz_problem(files: Files, path: str, loader: Loader) -> str:
    """What an archive lacks: the first of its arrays that is no field's; all such fields are disputed."""
    from sexpgpu.program.data.headers import Unreadable, npz_headers

    try:
        headers = npz_headers(files, path)
    except Unreadable as error:
        return str(error)
    lengths: dict[int, str] = {}
    different: list[str] = []
    for name, field in (loader.fields or {}).items():
        header = headers.get(name)
        if header is None:
            return f"it has no array `{name}`; it has {', '.join(headers) or 'none'}"
        if not header.shape or header.shape[1:] != field.shape or header.dtype != field.dtype.name:
            shown = f"{header.dtype}[{' '.join(map(str, header.shape))}]"
            wanted = typed(field.shape, field.dtype).replace("[", "[records " if field.shape else "[records")
            different.append(f"its array `{name}` is {shown}, and the field is {wanted}")
            loader.disputed.add(name)
        else:
            lengths.setdefault(header.shape[0], name)
    if different:
        return different[0]
    if len(lengths) > 1:
        shown = ", ".join(f"{count} in `{name}`" for count, name in lengths.items())
        return f"its arrays have different numbers of records: {shown}"
    return ""


def _token_field(loader: Loader, source: Made) -> tuple[str, DType] | str:
    name, dtype = source.arguments["field"], source.arguments["dtype"]
    assert isinstance(name, Keyword) and isinstance(dtype, Keyword)
    fields = loader.fields or {}
    field = fields.get(name.name)
    if field is None or len(fields) > 1:
        return (
            f"a token file gives the field :{name.name} and no other, and the loader declares {' '.join(f':{f}' for f in fields)}"
        )
    held = DTYPES[dtype.name]
    if len(field.shape) != 1 or not field.dtype.is_integer or field.dtype.most < held.most or field.dtype.least > held.least:
        return f"tokens of {held!r} need a field of one axis and an integer dtype that holds them, and :{name.name} is " + typed(
            field.shape, field.dtype
        )
    return name.name, held


def _tokens_problem(files: Files, path: str, loader: Loader, source: Made) -> str:
    size = files.size(path)
    found = _token_field(loader, source)
    if isinstance(found, str):
        return found
    if size % found[1].bytes:
        return f"its {size} bytes are no whole number of {found[1]!r} tokens"
    return ""


def _jsonl_problem(files: Files, path: str, loader: Loader) -> str:
    import json

    line = files.read(path, 0, 2**20).partition(b"\n")[0]
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return "its first line is no JSON object"
    if not isinstance(record, dict):
        return "its first line is no JSON object"
    for name, field in (loader.fields or {}).items():
        if name not in record and not (name == "length" and field.shape == ()):
            return f"its first record has no `{name}`"
    return ""


# How many records


def source_length(builder: Builder, loader: Loader, source: Made | None) -> int | None:
    """How many records one epoch of a source has; None where it is not known."""
    if source is None:
        return None
    if source.name == "synthetic":
        count = source.arguments.get("count")
        return count if type(count) is int and count > 0 else None
    if source.name == "mix":
        parts = source.arguments.get("sources")
        lengths = [source_length(builder, loader, _inner(part)) for part in (parts.items if isinstance(parts, List) else ())]
        return None if None in lengths else sum(length or 0 for length in lengths)
    try:
        count = _file_length(builder.files, loader, source)
    except OSError:
        return None
    if count is None:
        return None
    start, stop = row_range(source, count)
    return stop - start


def _inner(part: Value) -> Made | None:
    inner = part.items[0] if isinstance(part, List) and part.items else None
    return inner if isinstance(inner, Made) else None


def _file_length(files: Files, loader: Loader, source: Made) -> int | None:
    path = source.arguments.get("path")
    if not isinstance(path, str) or loader.fields is None:
        return None
    file = beside(source.form.top.source.name, path)
    if _problem(files, file, loader, source):
        return None
    if source.name == "npz":
        from sexpgpu.program.data.headers import npz_headers

        headers = npz_headers(files, file)
        return next((headers[name].shape[0] for name in loader.fields), None)
    if source.name == "tokens":
        name, dtype = source.arguments["field"], source.arguments["dtype"]
        assert isinstance(name, Keyword) and isinstance(dtype, Keyword)
        (length,) = loader.fields[name.name].shape
        return files.size(file) // DTYPES[dtype.name].bytes // length if length else None
    if source.name == "jsonl" and files.size(file) <= _MOST_JSONL:
        return sum(1 for line in files.read(file).split(b"\n") if line.strip())
    return None


def epoch_length(builder: Builder, loader: Loader) -> int | None:
    """How many records the loader's shortest stage has; None where that is not known."""
    lengths = [source_length(builder, loader, source) for source in loader.sources or ()]
    known = [length for length in lengths if length is not None]
    return min(known) if known and len(known) == len(lengths) else None
