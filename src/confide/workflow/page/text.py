"""Text and numbers from files, as readers see them: on one line, not too long, never as markup."""

import math
import re
import unicodedata

import numpy as np
from jaxtyping import Float64

from confide.document import separator

# Characters of a text from a file; more would push the numbers off a phone.
MOST_CHARACTERS = 40
# This share of observations may be too near to zero for three digits.
FEW = 0.1
# CommonMark takes any of these literally after a backslash.
PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# Characters that turn the direction of the text around them, and those that are no text at all.
INVISIBLE = {"Cc", "Cs", "Co", "Cn"}
TURNING = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"}


def plain(text: object, most: int = MOST_CHARACTERS) -> str:
    r"""A text from a file on one line, cut to `most` characters, without control characters.

    Example:
        >>> plain("two\nlines\x00"), plain("abcdefgh", most=5)
        ('two lines', 'abcd…')
    """
    # Cut first, generously: a text may be a book.
    words = " ".join(str(text)[: 4 * most].split())
    kept = [c for c in words if c not in TURNING and unicodedata.category(c) not in INVISIBLE]
    line = "".join(kept)
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def literal(text: object, most: int = 200) -> str:
    r"""A text from a file as Markdown that shows it so.

    Example:
        >>> print(literal("*a* <b>"))
        \*a\* \<b\>
    """
    return PUNCTUATION.sub(r"\\\1", plain(text, most))


def decimals_for(widths: Float64[np.ndarray, " row"], values: Float64[np.ndarray, " row"]) -> str:
    """A format of numbers that shows a hundredth of the typical width, and thousands apart.

    Example:
        >>> decimals_for(np.array([0.2, 0.3, np.inf]), np.array([1.0]))
        '.3f'
        >>> decimals_for(np.array([30_000.0]), np.array([154_300.0]))
        ',.-2f'
        >>> decimals_for(np.array([0.0]), np.array([1.0]))
        '.4g'
    """
    usable = widths[np.isfinite(widths) & (widths > 0)]
    if not len(usable):
        return ".4g"
    decimals = math.ceil(-math.log10(float(np.median(usable)) / 100))
    return f"{separator(np.abs(values).max())}.{decimals}f" if -9 <= decimals <= 6 else ".4g"


def at_least_three_digits(shape: str, values: Float64[np.ndarray, " row"]) -> str:
    """A format for observations: that of predictions, with three digits of nearly all of them.

    Wide intervals make a coarse format, in which an observation would be 0.

    Example:
        >>> at_least_three_digits(",.-6f", np.array([64_212.0, 9.9e9]))
        ',.-2f'
        >>> at_least_three_digits(".1f", np.array([64.2, 35.1]))
        '.1f'
    """
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    if not len(sizes):
        return shape
    needed = 2 - math.floor(math.log10(float(np.quantile(sizes, FEW, method="lower"))))
    is_fine = shape.endswith("f") and int(shape[:-1].split(".")[1]) >= needed
    return shape if is_fine or abs(needed) > 9 else f"{separator(sizes.max())}.{needed}f"


def percent(share: float) -> str:
    """A share in per cent, with a digit after the point where it is below 10.

    Example:
        >>> percent(0.123), percent(0.0123), percent(0.95)
        ('12 %', '1.2 %', '95 %')
    """
    rounded = f"{100 * share:.0f}" if share >= 0.0995 else f"{100 * share:.1f}"
    return f"{rounded} %"


def level_text(level: float) -> str:
    """A level as people write it.

    Example:
        >>> level_text(0.95), level_text(0.999)
        ('95 %', '99.9 %')
    """
    return f"{round(100 * level, 6):g} %"


def rows_text(n: int) -> str:
    """A number of rows.

    Example:
        >>> rows_text(1), rows_text(1200)
        ('1 row', '1,200 rows')
    """
    return "1 row" if n == 1 else f"{n:,} rows"
