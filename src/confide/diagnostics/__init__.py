"""Diagnostics: what a prediction's uncertainty is made of, and where not to trust it.

`explanation.py` puts the split into words (`levers.py` has its numbers: shares, and what more
members and more rows would do); `novelty.py` finds rows unlike the training data; `overfitting.py`
tells whether members follow the noise.
"""

from confide.diagnostics.explanation import SOURCES, WORDS, Explanation, largest_words
from confide.diagnostics.levers import Decay, Lever, checked_decay, mean_shares, shares
from confide.diagnostics.novelty import Novelty
from confide.diagnostics.overfitting import LARGEST_RATIO, OverfittingCheck, overfitting_check

__all__ = [
    "LARGEST_RATIO",
    "SOURCES",
    "WORDS",
    "Decay",
    "Explanation",
    "Lever",
    "Novelty",
    "OverfittingCheck",
    "checked_decay",
    "largest_words",
    "mean_shares",
    "overfitting_check",
    "shares",
]
