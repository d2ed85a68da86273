"""Diagnostics: what a prediction's uncertainty is made of, and where not to trust it.

`explanation.py` puts the split into words (`levers.py` has its numbers: shares, and what more
members and more rows would do); `novelty.py` finds rows unlike the training data, `surprise.py` the
values that no training row had; `overfitting.py` tells whether members follow the noise, and
`grades.py` how well intervals hold.
"""

from confide.diagnostics.explanation import SOURCES as SOURCES
from confide.diagnostics.explanation import WORDS as WORDS
from confide.diagnostics.explanation import Explanation as Explanation
from confide.diagnostics.explanation import largest_words as largest_words
from confide.diagnostics.grades import LARGE as LARGE
from confide.diagnostics.grades import UNLIKELY as UNLIKELY
from confide.diagnostics.grades import VERY_UNLIKELY as VERY_UNLIKELY
from confide.diagnostics.grades import WITHIN as WITHIN
from confide.diagnostics.grades import Grade as Grade
from confide.diagnostics.grades import graded as graded
from confide.diagnostics.grades import graded_coverage as graded_coverage
from confide.diagnostics.levers import Decay as Decay
from confide.diagnostics.levers import Lever as Lever
from confide.diagnostics.levers import checked_decay as checked_decay
from confide.diagnostics.levers import mean_shares as mean_shares
from confide.diagnostics.levers import shares as shares
from confide.diagnostics.novelty import Novelty as Novelty
from confide.diagnostics.novelty import Unseen as Unseen
from confide.diagnostics.overfitting import LARGEST_RATIO as LARGEST_RATIO
from confide.diagnostics.overfitting import OverfittingCheck as OverfittingCheck
from confide.diagnostics.overfitting import overfitting_check as overfitting_check
from confide.diagnostics.surprise import NOVEL as NOVEL
from confide.diagnostics.surprise import steady_columns as steady_columns
