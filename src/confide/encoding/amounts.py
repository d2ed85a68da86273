"""Text that is numbers as people write them: 1,234.5 and $1,234.00, € 1.234,50 or 7%."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw

from confide.encoding.reading import Source, Written

if TYPE_CHECKING:
    import pandas as pd

_AMOUNT = re.compile(r"([+-]?)([$€£%]?)([+-]?)([\d.,]+)([$€£%]?)", re.ASCII)
# What a number looks like with each mark before its decimals.
_SHAPES = {
    ".": re.compile(r"(\d+|[1-9]\d{0,2}(,\d{3})+)(\.\d+)?", re.ASCII),
    ",": re.compile(r"(\d+|[1-9]\d{0,2}(\.\d{3})+)(,\d+)?", re.ASCII),
}
# A postal code, say: not a number, though all digits.
_CODE = re.compile(r"0\d+")


def read_amounts(texts: Iterable[str], written: Written) -> dict[str, float] | None:
    """The number that each text is, with or without the sign; None if they are not all numbers.

    Example:
        >>> read_amounts(["$1,234.50", "7"], Written(".", "$"))
        {'$1,234.50': 1234.5, '7': 7.0}
    """
    numbers: dict[str, float] = {}
    for text in texts:
        parts = _parts(text)
        if parts is None or parts[1] not in {"", written.sign}:
            return None
        minus, _, digits = parts
        if not _SHAPES[written.decimal].fullmatch(digits) or _CODE.fullmatch(digits):
            return None
        thousands = "," if written.decimal == "." else "."
        plain = digits.replace(thousands, "").replace(",", ".")
        numbers[text] = float(minus + plain)
    return numbers


def how_written(texts: Sequence[str]) -> Written | None:
    """How all texts are numbers that programs do not read; None if they are not, or in two ways.

    Commas before three digits everywhere separate thousands, which is a guess.

    Example:
        >>> how_written(["1,234", "560"])
        Written(decimal='.', sign='', is_guess=True)
        >>> how_written(["€ 1.234,50"])
        Written(decimal=',', sign='€', is_guess=False)
        >>> how_written(["€1.234"]), how_written(["1234.5"])
        (None, None)
    """
    signs: set[str] = set()
    for text in texts:
        if (parts := _parts(text)) is None:
            return None
        signs.add(parts[1])
    if len(signs) != 1 or not (signs != {""} or any("," in text for text in texts)):
        return None
    (sign,) = signs
    read = {mark: read_amounts(texts, Written(mark, sign)) for mark in _SHAPES}
    fitting = [mark for mark, numbers in read.items() if numbers is not None]
    if len(fitting) < 2:
        return Written(fitting[0], sign) if fitting else None
    if read["."] == read[","]:
        return Written(".", sign)
    return Written(".", sign, is_guess=True) if not any("." in t for t in texts) else None


def with_amounts_read(source: Source, written: Written | None = None) -> Source:
    """A column of text that is all numbers as people write them, as numbers; others as they are.

    Args:
        source: the column.
        written: how training had them; None where this is training.
    """
    if not source.is_free_text:
        return source
    texts = source.texts()
    different = texts.drop_nulls().unique(maintain_order=True).to_list()
    if written is None:
        written = how_written(different)
    numbers = None if written is None else read_amounts(different, written)
    if not numbers:
        return source
    read = [numbers.get(text) for text in texts.to_list()]  # what is missing is no key
    series = nw.new_series(source.name, read, nw.Float64, backend=texts.implementation)
    return replace(source, kind="number", series=series, written=written)


def series_with_amounts_read(series: "pd.Series[Any]") -> "pd.Series[Any]":
    """The same for text in a column of pandas, to show it as the networks see it."""
    import pandas as pd

    if pd.api.types.infer_dtype(series, skipna=True) != "string" or hasattr(series, "cat"):
        return series
    texts = series.dropna().unique().tolist()
    written = how_written(texts)
    numbers = None if written is None else read_amounts(texts, written)
    return series.astype(object).map(numbers).astype(float) if numbers else series


def _parts(text: str) -> tuple[str, str, str] | None:
    """Minus or nothing, the sign and the digits of an amount; None for other text."""
    found = _AMOUNT.fullmatch("".join(text.split()))
    if found is None:
        return None
    before, left, after, digits, right = found.groups()
    if (before and after) or (left and right):
        return None
    return "-" * ("-" in before + after), left + right, digits
