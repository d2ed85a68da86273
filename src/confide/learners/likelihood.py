"""How a learner's outputs are a law: the loss they are trained with, and how they are read."""

from abc import abstractmethod
from types import ModuleType
from typing import Any, ClassVar, TypeAlias

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

# Keeps the likelihood bounded; in units of the standardised target (Section 4.2 of the paper).
STD_FLOOR = 1e-3

Outputs: TypeAlias = Float[np.ndarray, "*member row output"]
"""What learners predict: for each row (of each member) the numbers that the likelihood reads."""


class Likelihood(eqx.Module):
    """What a learner's numbers mean.

    A network's last layer gives `n_outputs` raw numbers for each row of a batch. `loss` is what
    they are trained with, `outputs` what they become in a prediction. Both are written once for
    every array library: `xp` is `jax.numpy` or `torch`. The other methods read predicted outputs,
    which are NumPy's.
    """

    n_outputs: ClassVar[int]
    has_variance: ClassVar[bool] = True

    @abstractmethod
    def loss(self, raw: Any, y: Any, weight: Any, xp: ModuleType = jnp) -> Any:
        """The loss of one batch.

        Args:
            raw: the network's raw numbers, (output, row).
            y: the targets.
            weight: of each row; zero for padding.
            xp: the array library, `jax.numpy` or `torch`.

        Returns:
            One number: the mean over the rows that are not padding.
        """

    @abstractmethod
    def outputs(self, raw: Any, xp: ModuleType = jnp) -> tuple[Any, ...]:
        """The outputs, each with an entry for every row."""

    def mean(self, outputs: Outputs) -> Float[np.ndarray, "*member row"]:
        """The predicted mean."""
        return outputs[..., 0]

    def variance(self, outputs: Outputs) -> Float[np.ndarray, "*member row"]:
        """The predicted variance of the noise, where there is one (`has_variance`)."""
        return outputs[..., 1]

    def sample(
        self, generator: np.random.Generator, outputs: Float[np.ndarray, "row output"]
    ) -> Float[np.ndarray, " row"]:
        """One new target for each row: line 4 of Algorithm 1."""
        drawn = generator.standard_normal(len(outputs), np.float32)
        drawn *= np.sqrt(self.variance(outputs))
        drawn += self.mean(outputs)
        return drawn


class Normal(Likelihood):
    r"""Mean and variance of a normal law by maximum likelihood (Assumption 2.1 of the paper).

    The raw numbers are a mean and a log standard deviation; the loss is the mean over the batch of
    $\log\hat\sigma + (y - \hat f)^2 / 2\hat\sigma^2$. The outputs are mean and variance.
    """

    n_outputs: ClassVar[int] = 2

    def loss(self, raw: Any, y: Any, weight: Any, xp: ModuleType = jnp) -> Any:
        """Weighted mean negative log-likelihood of the batch, without its constant."""
        mean, log_std = raw
        std = xp.exp(log_std) + STD_FLOOR
        negative_log_likelihood = xp.log(std) + 0.5 * ((y - mean) / std) ** 2
        return xp.sum(weight * negative_log_likelihood) / xp.sum(weight > 0)

    def outputs(self, raw: Any, xp: ModuleType = jnp) -> tuple[Any, ...]:
        """Mean and variance."""
        mean, log_std = raw
        return mean, (xp.exp(log_std) + STD_FLOOR) ** 2


class SquaredError(Likelihood):
    """A mean alone, by least squares. How large the noise is must come from elsewhere."""

    n_outputs: ClassVar[int] = 1
    has_variance: ClassVar[bool] = False

    def loss(self, raw: Any, y: Any, weight: Any, xp: ModuleType = jnp) -> Any:
        """Half the weighted mean squared error of the batch."""
        (mean,) = raw
        return 0.5 * xp.sum(weight * (y - mean) ** 2) / xp.sum(weight > 0)

    def outputs(self, raw: Any, xp: ModuleType = jnp) -> tuple[Any, ...]:
        """The mean."""
        del xp
        return tuple(raw)
