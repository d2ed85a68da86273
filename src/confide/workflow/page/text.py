"""Text and numbers from files, as readers see them: on one line, not too long, never as markup."""

import math
import re
import unicodedata

import numpy as np
from jaxtyping import Float64

from confide.document import separator

# Characters of a text from a file; more would push the numbers off a phone.
MOST_CHARACTERS = 40
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
