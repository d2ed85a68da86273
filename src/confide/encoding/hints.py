"""What a column of text was perhaps meant as: numbers or dates that were not read as such."""

import re
from collections.abc import Sequence

from confide.encoding.written_dates import is_date
from confide.errors import listed

# What may stand around a number; the value is not needed, only that there is one.
_SIGNS = re.compile(r"[%$€£\s]")
_NUMBER = re.compile(
    r"[+-]?(\d+([.,]\d*)?|[.,]\d+|\d{1,3}(,\d{3})+(\.\d*)?|\d{1,3}(\.\d{3})+(,\d*)?)(e[+-]?\d+)?",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
# A postal code, say: not a number, though all digits.
_CODE = re.compile(r"0\d+")
_DATE = re.compile(
    r"(\d{1,2}([./-])\d{1,2}\2\d{4}|\d{1,2}/\d{1,2}/\d\d|\d{4}([./-])\d{1,2}\3\d{1,2})([ T].*)?"
)
# A few values of another kind do not hide what the rest is.
_MOST = 0.9


def hint(texts: Sequence[str]) -> str | None:
    """What different texts look like, and how to write them so that they are read as that.

    Example:
        >>> hint(["95", "110", "88", "90", "105", "75", "68", "80", "97", "?"])
        "most values look like numbers, but not '?': write those as empty"
        >>> hint(["03/25/2020", "03/26/2020"])
        'it looks like dates: write them as 2020-03-25'
    """
    odd = sorted(text for text in texts if not is_date(text))
    if texts and len(texts) - len(odd) >= _MOST * len(texts):
        if odd:
            return f"most values look like dates, but not {listed(odd, 3)}: write those as empty"
        return "it looks like dates: pass them as dates"
    if _most_are(_DATE, texts):
        return "it looks like dates: write them as 2020-03-25"
    bare = {text: _SIGNS.sub("", text) for text in texts}
    if not _most_are(_NUMBER, list(bare.values())) or any(map(_CODE.fullmatch, bare.values())):
        return None
    odd = sorted(text for text in texts if not _NUMBER.fullmatch(bare[text]))
    if not odd:
        return "they look like numbers: pass them as numbers, such as 1234.5"
    others = (text for text in texts if text not in odd)
    form = "" if all(map(_PLAIN.fullmatch, others)) else ", and the numbers as 1234.5"
    return f"most values look like numbers, but not {listed(odd, 3)}: write those as empty{form}"


def are_plain_numbers(texts: Sequence[str]) -> bool:
    """Whether all are numbers as programs write them, such as the names of shops may be."""
    return all(map(_PLAIN.fullmatch, texts))


def _most_are(pattern: re.Pattern[str], texts: Sequence[str]) -> bool:
    count = sum(pattern.fullmatch(text.strip()) is not None for text in texts)
    return count > 0 and count >= _MOST * len(texts)
