"""Calibration: how wide intervals should be, learnt from held-out rows or from twins.

`held_out.py` calibrates prediction intervals on held-out rows (split conformal
prediction). `twins.py` calibrates confidence intervals on simulated twins of the data; its
mathematics is in `confide.uncertainty.pivots`. `refits.py` fits a procedure again, which is all
that they ask of it. `summary.py` says what changed and how sure it is.
"""

from typing import TYPE_CHECKING

from confide.calibration.held_out import MANY_ROWS as MANY_ROWS
from confide.calibration.held_out import Calibration as Calibration
from confide.calibration.held_out import ConformalLaw as ConformalLaw
from confide.calibration.held_out import SignedConformalLaw as SignedConformalLaw
from confide.calibration.held_out import smallest_calibration_set as smallest_calibration_set
from confide.lazy import lazily

if TYPE_CHECKING:
    from confide.calibration.refits import EstimatorRefit as EstimatorRefit
    from confide.calibration.refits import MethodRefit as MethodRefit
    from confide.calibration.refits import Refit as Refit
    from confide.calibration.refits import predicted as predicted
    from confide.calibration.refits import seeded as seeded
    from confide.calibration.summary import MANY_BIASED as MANY_BIASED
    from confide.calibration.summary import SYSTEMATIC as SYSTEMATIC
    from confide.calibration.summary import CalibrationSummary as CalibrationSummary
    from confide.calibration.summary import Resemblance as Resemblance
    from confide.calibration.twins import AUTO as AUTO
    from confide.calibration.twins import BY_SIMULATIONS as BY_SIMULATIONS
    from confide.calibration.twins import FEWEST_SIMULATIONS as FEWEST_SIMULATIONS
    from confide.calibration.twins import LEAST as LEAST
    from confide.calibration.twins import N_SIMULATIONS as N_SIMULATIONS
    from confide.calibration.twins import ConfidenceCalibration as ConfidenceCalibration
    from confide.calibration.twins import twin_argument as twin_argument
    from confide.calibration.twins import usual_simulations as usual_simulations


# Twins take forests, and these take long to load.
__getattr__ = lazily(
    __name__,
    {
        "summary": ["MANY_BIASED", "SYSTEMATIC", "CalibrationSummary", "Resemblance"],
        "refits": ["EstimatorRefit", "MethodRefit", "Refit", "predicted", "seeded"],
        "twins": [
            *("AUTO", "BY_SIMULATIONS", "FEWEST_SIMULATIONS", "LEAST", "N_SIMULATIONS"),
            *("ConfidenceCalibration", "twin_argument", "usual_simulations"),
        ],
    },
)
