"""Parameter files held against the parameters that are loaded from them."""

from __future__ import annotations

from sexpgpu.diagnostics import rules
from sexpgpu.files import beside
from sexpgpu.language.values import Keyword, Made, Unknown, kind_of
from sexpgpu.program.builder import Builder
from sexpgpu.program.data.headers import ArrayHeader, Unreadable, safetensors_headers
from sexpgpu.program.model import Parameter


def check_pretrained(builder: Builder) -> None:
    """Check every file that parameters are loaded from: it is there (W-DATA-001) and holds them in their shapes (E-DATA-001).

    The file of a model that no graph runs is to be there all the same.
    """
    files: dict[Made, list[Parameter]] = {}
    for model in builder.program.models.values():
        made = model.settings.get("pretrained")
        if isinstance(made, Made):
            files[made] = []
    for parameter in builder.program.parameters.values():
        if parameter.pretrained is not None:
            files.setdefault(parameter.pretrained, []).append(parameter)
    for made, parameters in files.items():
        _check(builder, made, parameters)


def entry_name(made: Made, parameter: Parameter) -> str:
    """The name of a parameter's entry in its file: its path inside the model, behind the file's `:prefix`."""
    prefix = made.arguments.get("prefix")
    return f"{prefix}/{parameter.entry}" if isinstance(prefix, str) and prefix else parameter.entry


def _check(builder: Builder, made: Made, parameters: list[Parameter]) -> None:
    at = made.forms.get("path", made.form)
    path = made.arguments.get("path")
    if isinstance(path, Unknown):
        return
    if not isinstance(path, str):
        builder.evaluator.report(rules.TYPE_KIND, at, f"`pretrained` needs the path of a file, and this is {kind_of(path or made)}")
        return
    file = beside(made.form.top.source.name, path)
    try:
        headers = safetensors_headers(builder.files, file)
        problem = _problem(made, headers, parameters)
    except FileNotFoundError:
        help = "a path is relative to the file that writes it"
        builder.evaluator.report(rules.DATA_MISSING, at, f"the parameter file {path} does not exist here", help)
        return
    except Unreadable as error:
        problem = str(error)
    except OSError as error:
        problem = f"it cannot be read: {(error.strerror or str(error)).lower()}"
    if problem:
        builder.evaluator.report(rules.DATA_CONTENT, at, f"{path} does not hold the parameters that are loaded from it: {problem}")


def _problem(made: Made, headers: dict[str, ArrayHeader], parameters: list[Parameter]) -> str:
    missing = made.arguments.get("missing")
    may_miss = isinstance(missing, Keyword) and missing.name == "init"
    for parameter in parameters:
        name = entry_name(made, parameter)
        header = headers.get(name)
        if header is None and not may_miss:
            return f"it has no `{name}` for `{parameter.path}`"
        if header is not None and header.shape != parameter.shape:
            shown = f"[{' '.join(map(str, header.shape))}]"
            return f"its `{name}` has shape {shown}, and `{parameter.path}` has [{' '.join(map(str, parameter.shape))}]"
    return ""
