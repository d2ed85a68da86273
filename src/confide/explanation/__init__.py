"""The split as advice: where a prediction's uncertainty comes from, and what would shrink it.

Read `shares.py` for the sources, `levers.py` for what more members and more rows would do,
`explanation.py` for the words.
"""

from confide.explanation.decay import Decay, checked_decay
from confide.explanation.explanation import WORDS, Explanation, largest_words
from confide.explanation.levers import Lever

__all__ = ["WORDS", "Decay", "Explanation", "Lever", "checked_decay", "largest_words"]
