"""How a form is filled in: its text with the places to stop at, for a client that knows tab stops.

What stands there until it is typed over must hold as it is, or say what is to be written: a name that nothing binds.
"""

from __future__ import annotations

SNIPPETS: dict[str, str] = {
    "let": "let ((${1:name} ${2:value})) ${0:body}",
    "let*": "let* ((${1:name} ${2:value})) ${0:body}",
    "lambda": "lambda (${1:x}) ${0:body}",
    "if": "if ${1:condition} ${2:then} ${0:else}",
    "cond": "cond (${1:condition} ${2:value}) (true ${0:value})",
    "dotimes": "dotimes (${1:i} ${2:4}) ${0:body}",
    "dolist": "dolist (${1:item} ${2:items}) ${0:body}",
    "scope": "scope ${1::name} ${0:body}",
    "def": "def ${1:name} ${0:value}",
    "defun": "defun ${1:name} (${2:x})\n  ${0:body}",
    "defmodel": "defmodel ${1:model} (${2:x})\n  ${0:body}",
    "defloader": (
        "defloader ${1:name}\n  :batch ${2:32}\n  :fields (list :${3:x} (spec ${4:[8]} :f32))\n"
        '  :source ${0:(npz "${5:train.npz}")}'
    ),
    "defgenerate": (
        "defgenerate\n  :trips ${1:4}\n  :init (lambda (batch ctx) (list :${2:made} ${3:(zeros [1])}))\n"
        "  :step (lambda (state trip ctx) ${0:state})"
    ),
    "defpass": "defpass ${1:name}\n  :loader ${2:loader}\n  :every ${3:100}",
    "defoptimizer": "defoptimizer (${1:adamw} :lr ${0:0.001})",
    "defrun": "defrun :steps ${1:1000}",
    "load": 'load "${0:file.sx}"',
}
