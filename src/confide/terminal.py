"""Text for a terminal or a spreadsheet: one line stays one line, and nothing in it steers them."""

import json
import math
import unicodedata
from typing import Any

# Control, format (which turns the direction of text), surrogate, private and unassigned characters,
# and the separators of lines and paragraphs.
UNPRINTABLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}

# What spreadsheets take for the start of a formula, in both widths, and what they skip before it;
# the last is the mark of an encoding, at the start of a file.
FORMULAS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n", "\ufeff")


def for_spreadsheet(text: str) -> str:
    """A text with an apostrophe before it, if a spreadsheet would take it for a formula.

    Example:
        >>> for_spreadsheet("=1+1"), for_spreadsheet("a=b"), for_spreadsheet("-5")
        ("'=1+1", 'a=b', '-5')
    """
    if not text.startswith(FORMULAS):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def plain(text: object) -> str:
    r"""A text from anywhere on one line, with what no terminal prints written as an escape.

    Names of columns and versions come from files, and those from strangers: raw, they could clear
    the screen, forge lines or change the title of the window.

    Example:
        >>> print(plain("two\nlines\x1b[2J"))
        two\nlines\x1b[2J
    """
    line = str(text)
    if line.isascii() and line.isprintable():
        return line
    return "".join(repr(c)[1:-1] if _is_unprintable(c) else c for c in line)


def plain_lines(text: str) -> str:
    r"""The same for a table as text, whose lines and tabs stay.

    Example:
        >>> print(plain_lines("id,mean\n\x1b[2J,1\n"), end="")
        id,mean
        \x1b[2J,1
    """
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(c if c in "\n\t" else plain(c) for c in text)


def plain_json(payload: Any) -> str:
    r"""JSON that any program can read and any terminal can show.

    What is not a finite number becomes null, as JSON has no such numbers.

    Example:
        >>> print(plain_json([1.5, float("nan"), "\x9b2J"]))
        [
          1.5,
          null,
          "\u009b2J"
        ]
    """
    text = json.dumps(_finite(payload), indent=2, ensure_ascii=False, allow_nan=False)
    return escaped_json(text)


def escaped_json(text: str) -> str:
    r"""JSON of the same meaning, in which what no terminal prints is an escape.

    Example:
        >>> print(escaped_json('"\x9b2J"'))
        "\u009b2J"
    """
    if text.isascii() and "\x7f" not in text:  # dumps has escaped the others
        return text
    return "".join(json.dumps(c)[1:-1] if c != "\n" and _is_unprintable(c) else c for c in text)


def _is_unprintable(character: str) -> bool:
    return unicodedata.category(character) in UNPRINTABLE


def _finite(payload: Any) -> Any:
    if isinstance(payload, dict):
        return {name: _finite(value) for name, value in payload.items()}
    if isinstance(payload, list | tuple):
        return [_finite(value) for value in payload]
    if isinstance(payload, float) and not math.isfinite(payload):
        return None
    return payload
