"""What a neural method brings to the training loop: a network and a loss."""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from confide.learners.network import MeanVarianceNetwork


@runtime_checkable
class Objective(Protocol):
    """A network and the loss it is trained with: all in which neural methods differ.

    An objective is an Equinox module: its static fields (layer sizes) decide what is compiled, its
    array fields (penalties) are run-time values. The loss sees a whole batch, so that it need not
    be a mean over rows, and gets a key of its own for networks that are random themselves.
    """

    def network(self, key: PRNGKeyArray, n_features: int) -> PyTree:
        """An untrained network."""
        ...

    def loss(
        self,
        network: PyTree,
        key: PRNGKeyArray,
        X: Float[Array, "feature batch"],
        y: Float[Array, " batch"],
        weight: Float[Array, " batch"],
    ) -> Float[Array, ""]:
        """The loss of one batch; padding has weight zero."""
        ...

    def penalty(self, network: PyTree, n_rows: Int[Array, ""]) -> Float[Array, ""]:
        """What is added to every batch's loss, given the number of training rows."""
        ...

    def outputs(
        self, network: PyTree, X: Float[Array, "feature row"]
    ) -> tuple[Float[Array, " row"], Float[Array, " row"]]:
        """Two numbers for each row: the network's mean and variance, or the method's own pair."""
        ...


class GaussianLikelihood(eqx.Module):
    r"""Mean and variance of a normal law by maximum likelihood (Assumption 2.1 of the paper).

    The loss is the mean over the batch of $\log\hat\sigma + (y - \hat f)^2 / 2\hat\sigma^2$. The
    penalty is `l2_penalty` times the sum of the squared hidden kernels (no biases, not the output
    layer, no factor one half: the settings of the published runs); a negative `l2_penalty` stands
    for the paper's 1 / N.
    """

    hidden_layer_sizes: tuple[int, ...] = eqx.field(static=True)
    l2_penalty: Float[Array | np.ndarray, ""]

    def network(self, key: PRNGKeyArray, n_features: int) -> MeanVarianceNetwork:
        """An untrained network that returns mean and standard deviation."""
        return MeanVarianceNetwork.init(key, n_features, self.hidden_layer_sizes)  # type: ignore[return-value]

    def loss(
        self,
        network: MeanVarianceNetwork,
        key: PRNGKeyArray,
        X: Float[Array, "feature batch"],
        y: Float[Array, " batch"],
        weight: Float[Array, " batch"],
    ) -> Float[Array, ""]:
        """Weighted mean negative log-likelihood of the batch, without its constant."""
        del key  # this network is not random
        mean, std = network(X)
        negative_log_likelihood = jnp.log(std) + 0.5 * ((y - mean) / std) ** 2
        return jnp.sum(weight * negative_log_likelihood) / jnp.sum(weight > 0)

    def penalty(self, network: MeanVarianceNetwork, n_rows: Int[Array, ""]) -> Float[Array, ""]:
        """The l2 penalty on the hidden kernels."""
        strength = jnp.where(self.l2_penalty < 0, 1 / n_rows, self.l2_penalty)
        return strength * network.sum_of_squared_hidden_kernels()

    def outputs(
        self, network: MeanVarianceNetwork, X: Float[Array, "feature row"]
    ) -> tuple[Float[Array, " row"], Float[Array, " row"]]:
        """The network's mean and variance for each row."""
        mean, std = network(X)
        return mean, std**2
