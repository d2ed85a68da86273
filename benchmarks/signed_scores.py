"""What it costs and gains to calibrate each bound of a prediction interval by itself.

`python benchmarks/signed_scores.py` prints, for normal and exponential noise and several numbers of
calibration rows, the mean width of 95 % prediction intervals by signed scores over that by
symmetric ones, and how often new observations lie below and above either, all over 1000
calibration sets, with exact distribution functions.
"""

import warnings

import numpy as np
from scipy import stats

from confide.calibration import Calibration, ConformalLaw, SignedConformalLaw

LEVEL, N_SETS = 0.95, 1000
NOISE = {"normal": stats.norm(), "exponential": stats.expon(loc=-1)}


def bounds(scores: np.ndarray, *, symmetric: bool) -> np.ndarray:
    """Of each calibration set."""
    kind = ConformalLaw if symmetric else SignedConformalLaw
    zero, one = np.zeros(scores.shape[1]), np.ones(scores.shape[1])
    of_sets = (Calibration.of(own, zero, one, symmetric=symmetric) for own in scores)
    return np.array(
        [kind(zero[:1], one[:1], own.sorted_scores).interval(LEVEL)[0] for own in of_sets]
    )


def main() -> None:
    """Prints a table."""
    warnings.simplefilter("ignore")
    print("| noise | rows | width, signed over symmetric | beyond, signed | beyond, symmetric |")
    print("|---|---|---|---|---|")
    for name, noise in NOISE.items():
        for n in (39, 99, 199, 399, 999):
            scores = noise.rvs((N_SETS, n), random_state=n)
            signed, symmetric = (bounds(scores, symmetric=each) for each in (False, True))
            ratio = np.ptp(signed, axis=1).mean() / np.ptp(symmetric, axis=1).mean()
            error = np.std(np.ptp(signed, axis=1) / np.ptp(symmetric, axis=1)) / np.sqrt(N_SETS)
            shares = []
            for lower, upper in (signed.T, symmetric.T):
                below, above = noise.cdf(lower).mean(), noise.sf(upper).mean()
                shares.append(f"{100 * below:.1f} % + {100 * above:.1f} %")
            print(f"| {name} | {n} | {ratio:.3f} ± {error:.3f} | {shares[0]} | {shares[1]} |")


if __name__ == "__main__":
    main()
