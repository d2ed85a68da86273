"""The variances of the paper from the members' outputs. Arrays only: no network is known here."""

import numpy as np
from jaxtyping import Float

from confide.uncertainty.law import Row

PerMember = Float[np.ndarray, "member row"]


def ensemble_mean(member_means: PerMember) -> Row:
    r"""The ensemble's prediction, Algorithm 1, line 7: $\hat f_*(x) = \frac1M \sum_i \hat f_i(x)$.

    Example:
        >>> ensemble_mean(np.array([[1.0], [3.0]])).tolist()
        [2.0]
    """
    return np.asarray(np.mean(member_means, axis=0, dtype=np.float64))


def aleatoric_variance(member_variances: PerMember) -> Row:
    r"""Noise of the target itself, Algorithm 2, line 1.

    $\hat\sigma^2(x) = \frac1M \sum_i \hat\sigma_i^2(x)$.

    Example:
        >>> aleatoric_variance(np.array([[1.0], [3.0]])).tolist()
        [2.0]
    """
    return np.asarray(np.mean(member_variances, axis=0, dtype=np.float64))


def classical_variance(
    member_means: PerMember, retrained_means: Float[np.ndarray, "retrain member row"]
) -> Row:
    r"""Variance of a prediction caused by having seen one finite data set.

    Mean squared shift of a member when it is retrained on its own simulated targets, Algorithm 1,
    line 8: $\hat\sigma^2_{\mathrm{classical}} = \frac1M\sum_i (\hat f_i - \hat{\hat f}_i)^2$. With
    B retrainings of each member (the paper has B = 1) it averages all M * B squared shifts.

    Example:
        >>> means, retrained = np.array([[1.0], [3.0]]), np.array([[[2.0], [3.0]]])
        >>> classical_variance(means, retrained).tolist()
        [0.5]
    """
    shifts = retrained_means.astype(np.float64) - member_means
    return np.mean(shifts**2, axis=(0, 1))


def optimisation_variance(member_means: PerMember) -> Row:
    r"""Variance of one member caused by random training, Algorithm 1, line 9.

    The sample variance between members,
    $\hat\sigma^2_{\mathrm{optim}} = \frac1{M-1}\sum_i (\hat f_* - \hat f_i)^2$. It is undivided: it
    enters the variance of the ensemble's mean divided by M (`epistemic_variance`).

    Example:
        >>> optimisation_variance(np.array([[1.0], [3.0]])).tolist()
        [2.0]
    """
    return np.var(member_means, axis=0, ddof=1, dtype=np.float64)


def epistemic_variance(classical: Row, optimisation: Row, n_members: int) -> Row:
    r"""Variance of the ensemble's mean, Eq. (2) (`varianceeq`).

    $\mathbb V(\hat f_*) = \sigma^2_{\mathrm{classical}} + \sigma^2_{\mathrm{optim}} / M$: all
    members saw the same data, so only the second part shrinks with their number.

    Example:
        >>> epistemic_variance(np.array([0.5]), np.array([2.0]), 2).tolist()
        [1.5]
    """
    return classical + optimisation / n_members


def disagreement_variance(member_means: PerMember) -> Row:
    r"""Deep Ensembles' own epistemic variance: Eq. (1) (`sigma`) without its aleatoric term.

    $\frac1M\sum_i \hat f_i^2 - \hat f_*^2$, the spread of the mixture's components: with divisor M,
    and not divided by the number of members again.

    Example:
        >>> disagreement_variance(np.array([[1.0], [3.0]])).tolist()
        [1.0]
    """
    return np.var(member_means, axis=0, ddof=0, dtype=np.float64)
