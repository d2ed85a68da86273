"""The default networks: two numbers for each row, by default a mean and a standard deviation."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

# Keeps the likelihood bounded; in units of the standardised target (Section 4.2 of the paper).
STD_FLOOR = 1e-3


class Dense(eqx.Module):
    """An affine map of rows that lie in the columns of X."""

    weight: Float[Array, "out in"]
    bias: Float[Array, " out"]

    def __call__(self, X: Float[Array, "in row"]) -> Float[Array, "out row"]:
        """Weights times X plus bias.

        Written for many rows and with the rows last, against our habit: the matrix products of
        the forward and the backward pass then run along contiguous rows, and a training step
        takes half the time it takes when `vmap` chooses the layout (benchmarks/README.md).
        """
        return self.weight @ X + self.bias[:, None]


class Perceptron(eqx.Module):
    """A ReLU network with a linear head of two outputs; subclasses say what the two are."""

    hidden: tuple[Dense, ...]
    head: Dense

    @classmethod
    def init(
        cls, key: PRNGKeyArray, n_features: int, hidden_layer_sizes: tuple[int, ...]
    ) -> "Perceptron":
        """An untrained network: Glorot-uniform kernels, zero biases, as in the published runs."""
        sizes = (n_features, *hidden_layer_sizes, 2)
        shapes = [(n_out, n_in) for n_in, n_out in itertools.pairwise(sizes)]
        # One draw for all layers compiles in a third of the time of a draw for each.
        ends = np.cumsum([n_out * n_in for n_out, n_in in shapes])
        draws = jax.random.uniform(key, (int(ends[-1]),), minval=-1, maxval=1)
        *hidden, head = (
            Dense(np.sqrt(6 / sum(shape)) * draw.reshape(shape), jnp.zeros(shape[0]))
            for shape, draw in zip(shapes, jnp.split(draws, ends[:-1]), strict=True)
        )
        return cls(hidden=tuple(hidden), head=head)

    def linear_outputs(self, X: Float[Array, "feature row"]) -> Float[Array, "2 row"]:
        """The head's two outputs for rows that lie in the columns of X."""
        for layer in self.hidden:
            X = jax.nn.relu(layer(X))
        return self.head(X)

    def sum_of_squared_hidden_kernels(self) -> Float[Array, ""]:
        """What the l2 penalty multiplies."""
        return sum((jnp.sum(layer.weight**2) for layer in self.hidden), start=jnp.zeros(()))


class MeanVarianceNetwork(Perceptron):
    """A network whose outputs are a mean and a log standard deviation."""

    def __call__(
        self, X: Float[Array, "feature row"]
    ) -> tuple[Float[Array, " row"], Float[Array, " row"]]:
        """Mean and standard deviation of rows that lie in the columns of X."""
        mean, log_std = self.linear_outputs(X)
        return mean, jnp.exp(log_std) + STD_FLOOR
