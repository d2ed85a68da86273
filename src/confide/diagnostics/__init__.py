"""Diagnostics: what a prediction's uncertainty is made of, and where not to trust it.

`explanation.py` puts the split into words (`shares.py` has the sources, `levers.py` what more
members and more rows would do); `novelty.py` finds rows unlike the training data;
`overfitting.py` tells whether members follow the noise.
"""

from confide.diagnostics.decay import Decay, checked_decay
from confide.diagnostics.explanation import WORDS, Explanation, largest_words
from confide.diagnostics.levers import Lever
from confide.diagnostics.novelty import Novelty
from confide.diagnostics.overfitting import LARGEST_RATIO, OverfittingCheck, overfitting_check

__all__ = [
    "LARGEST_RATIO",
    "WORDS",
    "Decay",
    "Explanation",
    "Lever",
    "Novelty",
    "OverfittingCheck",
    "checked_decay",
    "largest_words",
    "overfitting_check",
]
