"""The paper's variances, from the members' outputs, and its laws and intervals, from variances."""

import numpy as np
from jaxtyping import Float, Float64

from confide.uncertainty.law import Row
from confide.uncertainty.t_plus_normal import TPlusNormalLaw

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

    Args:
        classical: the classical variance of each row.
        optimisation: the optimisation variance of each row, for one member.
        n_members: number of members.

    Returns:
        The variance of each row.

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


def bootstrapped_confidence_law(
    mean: Row, epistemic_variance: Row, n_members: int
) -> TPlusNormalLaw:
    r"""Law of the true function's value behind Theorem 3.3, Eq. (3) (`maintheorem`).

    $f(x) \in \hat f_* \pm t^{(M-1)}_{\alpha/2}
    \sqrt{\hat\sigma^2_{\mathrm{classical}} + \hat\sigma^2_{\mathrm{optim}} / M}$, with probability
    at least $1 - \alpha$ under Assumptions 3.1 and 3.2.

    Args:
        mean: the ensemble's prediction of each row.
        epistemic_variance: of that prediction.
        n_members: of the ensemble.

    Returns:
        The law of each row.
    """
    return TPlusNormalLaw.t(mean, np.sqrt(epistemic_variance), n_members - 1)


def bootstrapped_prediction_law(
    mean: Row, epistemic_variance: Row, aleatoric_variance: Row, n_members: int
) -> TPlusNormalLaw:
    """Law of a new observation that Algorithm 2 samples from: scaled t plus normal noise.

    Args:
        mean: the ensemble's prediction of each row.
        epistemic_variance: of that prediction.
        aleatoric_variance: of the noise.
        n_members: of the ensemble.

    Returns:
        The law of each row.
    """
    return TPlusNormalLaw(
        mean, np.sqrt(epistemic_variance), np.sqrt(aleatoric_variance), n_members - 1
    )


def deep_ensemble_confidence_law(
    mean: Row, disagreement_variance: Row, n_members: int
) -> TPlusNormalLaw:
    r"""The law implied by Deep Ensembles (Section 2.2): Eq. (1) without its aleatoric terms.

    $\hat f_* \pm t^{(M-1)}_{\alpha/2} \sqrt{\frac1M \sum_i \hat f_i^2 - \hat f_*^2}$.

    Args:
        mean: the ensemble's prediction of each row.
        disagreement_variance: between the members.
        n_members: of the ensemble.

    Returns:
        The law of each row.
    """
    return TPlusNormalLaw.t(mean, np.sqrt(disagreement_variance), n_members - 1)


def deep_ensemble_prediction_law(
    mean: Row, disagreement_variance: Row, aleatoric_variance: Row
) -> TPlusNormalLaw:
    r"""Deep Ensembles' normal approximation of their mixture, Eq. (1) (`sigma`).

    $\hat f_* \pm z_{\alpha/2} \hat\sigma_*$ with
    $\hat\sigma_*^2 = \frac1M \sum_i (\hat f_i^2 - \hat f_*^2 + \hat\sigma_i^2)$.

    Args:
        mean: the ensemble's prediction of each row.
        disagreement_variance: between the members.
        aleatoric_variance: of the noise.

    Returns:
        The law of each row.
    """
    return TPlusNormalLaw.normal(mean, np.sqrt(disagreement_variance + aleatoric_variance))


def monte_carlo_prediction_interval(
    generator: np.random.Generator,
    law: TPlusNormalLaw,
    confidence_level: float,
    n_draws: int = 10_000,
) -> Float64[np.ndarray, "row 2"]:
    """The prediction interval by draws, as the paper computes it, Algorithm 2 (`PIalg`).

    The bounds are empirical quantiles. As there, one draw of t serves all rows; the noise is drawn
    anew for each. The exact interval is `law.interval`, which this one agrees with up to
    Monte-Carlo error.

    Args:
        generator: of the draws.
        law: the exact law of each row.
        confidence_level: of the interval.
        n_draws: draws for each row.

    Returns:
        The lower and upper bound of each row.
    """
    t = generator.standard_t(law.degrees_of_freedom, n_draws)
    tails = [(1 - confidence_level) / 2, (1 + confidence_level) / 2]
    bounds = [
        np.quantile(mu + s * t + tau * generator.standard_normal(n_draws), tails)
        for mu, s, tau in zip(law.location, law.t_scale, law.normal_scale, strict=True)
    ]
    return np.array(bounds).reshape(-1, 2)
