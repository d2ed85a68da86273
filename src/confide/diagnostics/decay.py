"""How the variances fall as rows are added."""

from typing import NamedTuple

import numpy as np

from confide.checks import is_number


class Decay(NamedTuple):
    r"""How the variances fall as rows are added: as $N^{-a}$, with the standard error of each a.

    For the classical variance this project measured 0.63 from 500 to 30,000 rows of one set (the
    paper's Experiment 2), but 0.25 on tables of a few hundred rows: networks that are trained for
    as many epochs on more rows take more steps, and follow more. The default stands between the
    two, with an error that reaches both; `results/README.md` has how far its forecasts are off.
    Theory has 1 for a fixed parametric model.
    """

    classical: float = 0.45
    classical_se: float = 0.2
    optimisation: float = 0.27
    optimisation_se: float = 0.2


MEASURED = Decay()


def checked_decay(decay: object) -> Decay:
    """The decay, if it is one; a number is the exponent of the classical variance."""
    if decay is None:
        return MEASURED
    numbers: tuple[object, ...] = decay if isinstance(decay, Decay) else (decay, 0.0)
    finite = all(is_number(each) and np.isfinite(each) for each in numbers)
    if not finite or any(error < 0 for error in numbers[1::2]):  # type: ignore[operator]
        raise ValueError(
            "`decay` must be the exponent a of a variance that falls as N^-a, or a Decay of finite "
            f"numbers whose errors are not negative, got {decay!r}. Pass for example 0.5, or None."
        )
    return decay if isinstance(decay, Decay) else Decay(float(decay), 0.0)  # type: ignore[arg-type]
