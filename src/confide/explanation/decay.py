"""How the variances fall as rows are added."""

from typing import NamedTuple

import numpy as np

from confide.errors import is_number


class Decay(NamedTuple):
    r"""How the variances fall as rows are added: as $N^{-a}$, with the standard error of each a.

    The default is Experiment 2 of the paper as this project measured it, on 500 to 30,000 rows of
    one benchmark set (`results/README.md`). Theory has 1 for the classical variance of a fixed
    parametric model. `confide.laboratory.measured_decay` measures it on your own table.
    """

    classical: float = 0.63
    classical_se: float = 0.04
    optimisation: float = 0.27
    optimisation_se: float = 0.06


MEASURED = Decay()


def checked_decay(decay: object) -> Decay:
    """The decay, if it is one; a number is the exponent of the classical variance."""
    if decay is None:
        return MEASURED
    numbers: tuple[object, ...] = decay if isinstance(decay, Decay) else (decay,)
    if not all(is_number(each) and 0 <= each < np.inf for each in numbers):
        raise ValueError(
            f"`decay` must be the exponent a of a variance that falls as N^-a, not negative, got "
            f"{decay!r}. Pass for example 0.5, or what `confide.laboratory.measured_decay` gives."
        )
    return decay if isinstance(decay, Decay) else Decay(float(decay), 0.0)  # type: ignore[arg-type]
