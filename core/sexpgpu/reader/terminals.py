"""The terminals of grammar.lark, in the order in which they are tried.

Generated: after a change of the grammar, run `python -m sexpgpu.reader.compile`.
"""

from __future__ import annotations

# fmt: off
TERMINALS: dict[str, str] = {
    "BLOCK_TEXT": '(?:[^#|]|#(?!\\|)|\\|(?!#))+',
    "BLOCK_CLOSE": '\\|\\#',
    "BYTE_ORDER_MARK": '\\A\ufeff',
    "BLOCK_OPEN": '\\#\\|',
    "DATUM_COMMENT": '\\#;',
    "CLOSE_LIST": '\\)',
    "OPEN_LIST": '\\(',
    "CONSTANT": '(?:nil|true|false)(?![^\\s()\\[\\]"\';]|[\x1c-\x1f])',
    "FLOAT": (
        '(?:[+-]?(?:[0-9]+(?:_[0-9]+)*)?\\.[0-9]+(?:_[0-9]+)*(?:[eE][+-]?[0-9]+)?|[+-]?[0-9]+(?:_[0-9]+)*[eE][+-]?[0-'
        '9]+|-?inf|nan)(?![^\\s()\\[\\]"\';]|[\x1c-\x1f])'
    ),
    "INTEGER": '[+-]?(?:0x[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|[0-9]+(?:_[0-9]+)*)(?![^\\s()\\[\\]"\';]|[\x1c-\x1f])',
    "KEYWORD": ':[^\\s\x00-\x1f\x7f-\x9f()\\[\\]"\';]+(?![^\\s()\\[\\]"\';]|[\x1c-\x1f])',
    "SYMBOL": '(?![+-]?\\.?[0-9])(?!:)[^\\s\x00-\x1f\x7f-\x9f()\\[\\]"\';]+(?![^\\s()\\[\\]"\';]|[\x1c-\x1f])',
    "STRING": '"[^"\\\\]*(?:\\\\(?s:.)[^"\\\\]*)*"',
    "CLOSE_VECTOR": '\\]',
    "OPEN_VECTOR": '\\[',
    "QUOTE": "'",
    "WHITE_SPACE": '[^\\S\x1c-\x1f]+',
    "LINE_COMMENT": ';[^\r\n]*',
    "RUN": '[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000()\\[\\]"\';]+',
}
