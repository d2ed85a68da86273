"""Calibration: how wide intervals should be, learnt from held-out rows or from twins.

`held_out.py` calibrates prediction intervals on rows that were kept from training (split conformal
prediction). `twins.py` calibrates confidence intervals on simulated twins of the data; its
mathematics is in `confide.uncertainty.pivots`. `summary.py` says what changed and how sure it is.
"""

from typing import TYPE_CHECKING

from confide.calibration.held_out import Calibration, ConformalLaw, smallest_calibration_set
from confide.lazy import lazily

if TYPE_CHECKING:
    from confide.calibration.summary import (
        BEYOND_CHANCE,
        MANY_BIASED,
        SYSTEMATIC,
        UNLIKE,
        CalibrationSummary,
        Resemblance,
    )
    from confide.calibration.twins import (
        AUTO,
        FEWEST_SIMULATIONS,
        ConfidenceCalibration,
        twin_argument,
    )

__all__ = [
    "AUTO",
    "BEYOND_CHANCE",
    "FEWEST_SIMULATIONS",
    "MANY_BIASED",
    "SYSTEMATIC",
    "UNLIKE",
    "Calibration",
    "CalibrationSummary",
    "ConfidenceCalibration",
    "ConformalLaw",
    "Resemblance",
    "smallest_calibration_set",
    "twin_argument",
]

# Twins take forests, and these take long to load.
__getattr__ = lazily(
    __name__,
    {
        "summary": [
            *("BEYOND_CHANCE", "MANY_BIASED", "SYSTEMATIC", "UNLIKE"),
            *("CalibrationSummary", "Resemblance"),
        ],
        "twins": ["AUTO", "FEWEST_SIMULATIONS", "ConfidenceCalibration", "twin_argument"],
    },
)
