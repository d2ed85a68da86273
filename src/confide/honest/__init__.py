"""Honest confidence intervals: the whole procedure repeated on simulated twins of the data.

Read `calibration.py` for how a fit is calibrated and what becomes of its predictions, and
`account.py` for what it tells of itself. The mathematics is in `confide.uncertainty.pivots`, the
twins are in `confide.simulate.choice`.
"""

from confide.honest.account import Account, Resemblance
from confide.honest.calibration import AUTO, FEWEST_SIMULATIONS, ConfidenceCalibration

__all__ = ["AUTO", "FEWEST_SIMULATIONS", "Account", "ConfidenceCalibration", "Resemblance"]
