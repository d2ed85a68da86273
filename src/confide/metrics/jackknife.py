"""Standard errors of what is no plain mean over rows."""

import numpy as np
from jaxtyping import Float64


def jackknife_standard_error(without: Float64[np.ndarray, " row"]) -> float:
    """The standard error of a number, from its values without each row in turn.

    Example:
        The mean of 1, 2 and 6, with its usual standard error:

        >>> round(jackknife_standard_error(np.array([4.0, 3.5, 1.5])), 4)
        1.5275
    """
    n = len(without)
    return float(np.sqrt((n - 1) * np.var(without))) if n > 1 else float("nan")
