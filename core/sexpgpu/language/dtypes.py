"""The twelve dtypes of a tensor, and which numbers fit them (language §2)."""

from __future__ import annotations

from typing import Literal

from sexpgpu.language.nearest import nearest

Kind = Literal["bool", "int", "uint", "float"]


_LARGEST = {"f16": 65504, "bf16": 255 << 120, "f32": (2**24 - 1) << 104, "f64": (2**53 - 1) << 971}


class DType:
    """A dtype: its name, its kind, its width in bits, and its least and greatest finite value."""

    __slots__ = ("bits", "is_float", "is_integer", "kind", "least", "most", "name")

    def __init__(self, name: str, kind: Kind, bits: int) -> None:
        self.name = name
        self.kind: Kind = kind
        self.bits = bits
        self.is_float = kind == "float"
        self.is_integer = kind in ("int", "uint")
        self.most = _LARGEST[name] if kind == "float" else (1 << (bits - (kind == "int"))) - 1
        self.least = -self.most if kind == "float" else ~self.most if kind == "int" else 0

    @property
    def bytes(self) -> int:
        """Bytes an element takes; a bool takes one."""
        return max(1, self.bits // 8)

    def fits(self, number: int | float) -> bool:
        """Whether a host number can take this dtype when it meets a tensor of it: integers need its range, floats a float dtype."""
        if self.kind == "bool" or isinstance(number, float):
            return self.kind == "float"
        return self.least <= number <= self.most

    def __repr__(self) -> str:
        return f":{self.name}"


BOOL = DType("bool", "bool", 1)
I8, I16, I32, I64 = (DType(f"i{bits}", "int", bits) for bits in (8, 16, 32, 64))
U8, U16, U32 = (DType(f"u{bits}", "uint", bits) for bits in (8, 16, 32))
F16 = DType("f16", "float", 16)
BF16 = DType("bf16", "float", 16)
F32 = DType("f32", "float", 32)
F64 = DType("f64", "float", 64)

DTYPES: dict[str, DType] = {d.name: d for d in (BOOL, I8, I16, I32, I64, U8, U16, U32, F16, BF16, F32, F64)}

_LONG = (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i"))
_WORDS = {"boolean": "bool", "byte": "u8", "int": "i32", "long": "i64", "half": "f16", "single": "f32", "double": "f64"}


def meant(name: str) -> list[str]:
    """The dtypes that a name which is none may mean: its name in other languages (`float32`, `double`), else the nearest."""
    short = _WORDS.get(name, name)
    for long, letters in _LONG:
        short = short.replace(long, letters)
    return [short] if short in DTYPES else nearest(name, [*DTYPES, "float"])
