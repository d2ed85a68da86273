"""Diagnostics: what a prediction's uncertainty is made of, and where not to trust it.

`explanation.py` puts the split into words (`sources.py` has the sources and their shares,
`levers.py` what more members and more rows would do); `novelty.py` finds rows unlike the training
data; `overfitting.py` tells whether members follow the noise.
"""

from confide.diagnostics.explanation import Explanation
from confide.diagnostics.levers import Decay, Lever, checked_decay
from confide.diagnostics.novelty import Novelty
from confide.diagnostics.overfitting import LARGEST_RATIO, OverfittingCheck, overfitting_check
from confide.diagnostics.sources import SOURCES, WORDS, largest_words, mean_shares, shares

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
