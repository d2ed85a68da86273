"""The paper's laws and intervals, built from variances."""

import numpy as np
from jaxtyping import Float64

from confide.uncertainty.law import Row
from confide.uncertainty.t_plus_normal import TPlusNormalLaw


def bootstrapped_confidence_law(
    mean: Row, epistemic_variance: Row, n_members: int
) -> TPlusNormalLaw:
    r"""Law of the true function's value behind Theorem 3.3, Eq. (3) (`maintheorem`).

    $f(x) \in \hat f_* \pm t^{(M-1)}_{\alpha/2}
    \sqrt{\hat\sigma^2_{\mathrm{classical}} + \hat\sigma^2_{\mathrm{optim}} / M}$, with probability
    at least $1 - \alpha$ under Assumptions 3.1 and 3.2.
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
    """
    return TPlusNormalLaw.t(mean, np.sqrt(disagreement_variance), n_members - 1)


def deep_ensemble_prediction_law(
    mean: Row, disagreement_variance: Row, aleatoric_variance: Row
) -> TPlusNormalLaw:
    r"""Deep Ensembles' normal approximation of their mixture, Eq. (1) (`sigma`).

    $\hat f_* \pm z_{\alpha/2} \hat\sigma_*$ with
    $\hat\sigma_*^2 = \frac1M \sum_i (\hat f_i^2 - \hat f_*^2 + \hat\sigma_i^2)$.
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
