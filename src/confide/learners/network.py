"""Networks as the training loop sees them, and the paper's own."""

import itertools
from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree


class Network(eqx.Module):
    """How a network is made, asked and penalised.

    A network is an Equinox module: its static fields (layer sizes) decide what is compiled, its
    array fields (the strength of a penalty) are run-time values. The weights are not in it: they
    are the floating-point arrays of the module that `init` makes, the rest of which is static.

    Attributes:
        adam: the direction of a step where the user has no optimiser, by default that of Adam with
            the published settings; the loop applies the learning rate.
        is_robust: whether inputs are scaled by quantiles, and predictions kept near the targets.
    """

    adam: ClassVar[optax.GradientTransformation] = optax.scale_by_adam(b1=0.9, b2=0.999, eps=1e-7)
    is_robust: ClassVar[bool] = False

    @property
    def chosen(self) -> dict[str, Any]:
        """Arguments of an estimator that a choice may decide, by name."""
        return {}

    @abstractmethod
    def init(self, key: PRNGKeyArray, n_features: int) -> Any:
        """An untrained module."""

    def inputs(self, X: Float[Array, "feature row"]) -> Float[Array, "input row"]:
        """What a module is given of rows that lie in the columns of X: by default the rows."""
        return X

    @abstractmethod
    def raw(
        self, module: Any, X: Float[Array, "input row"], key: PRNGKeyArray | None
    ) -> Float[Array, "output row"]:
        """The module's numbers for rows that lie in the columns of X.

        Args:
            module: the module with its weights.
            X: the rows, as `inputs` gives them.
            key: for layers that are random in training; None for predictions, which are not random.

        Returns:
            The outputs of each row.
        """

    def plain_layers(self, module: Any, n_features: int) -> "list[Dense] | None":
        """The layers of a module as they are applied, for `PlainNetworks`; None if it has others.

        Args:
            module: the module with its weights.
            n_features: the number of features.
        """
        del module, n_features
        return None

    def penalty(self, module: Any, n_rows: Int[Array, ""]) -> Float[Array, ""]:
        """What is added to every batch's loss, given the number of training rows."""
        del module, n_rows
        return jnp.zeros(())


def partitioned(module: PyTree) -> tuple[PyTree, PyTree, PyTree]:
    """Weights (floating-point arrays), other arrays, and the rest; arrays may be shapes."""

    def is_array(leaf: Any) -> bool:
        return isinstance(leaf, (jax.Array, np.ndarray, jax.ShapeDtypeStruct))

    arrays, static = eqx.partition(module, is_array)
    weights, fixed = eqx.partition(arrays, lambda leaf: jnp.issubdtype(leaf.dtype, jnp.inexact))
    return weights, fixed, static


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
    """ReLU layers and a linear head of two outputs."""

    hidden: tuple[Dense, ...]
    head: Dense

    @classmethod
    def init(
        cls, key: PRNGKeyArray, n_features: int, hidden_layer_sizes: tuple[int, ...]
    ) -> "Perceptron":
        """Untrained, with Glorot-uniform kernels and zero biases, as in the published runs.

        Args:
            key: for the kernels.
            n_features: number of features.
            hidden_layer_sizes: units of each hidden layer.

        Returns:
            The perceptron.
        """
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

    def __call__(self, X: Float[Array, "feature row"]) -> Float[Array, "2 row"]:
        """The two outputs of rows that lie in the columns of X."""
        for layer in self.hidden:
            X = jax.nn.relu(layer(X))
        return self.head(X)

    @property
    def layers(self) -> list[Dense]:
        """All of them, the head last."""
        return [*self.hidden, self.head]


class PerceptronNetwork(Network):
    """A perceptron of two outputs, whatever these mean."""

    hidden_layer_sizes: tuple[int, ...] = eqx.field(static=True)

    def init(self, key: PRNGKeyArray, n_features: int) -> Perceptron:
        """An untrained perceptron."""
        return Perceptron.init(key, n_features, self.hidden_layer_sizes)

    def raw(
        self, module: Perceptron, X: Float[Array, "feature row"], key: PRNGKeyArray | None
    ) -> Float[Array, "2 row"]:
        """Its two outputs."""
        del key  # it is not random
        return module(X)

    def plain_layers(self, module: Perceptron, n_features: int) -> list[Dense]:
        """Its layers."""
        del n_features
        return module.layers


class PaperNetwork(PerceptronNetwork):
    r"""The paper's network: a perceptron that outputs a mean and a log standard deviation.

    The penalty is `l2_penalty` times the sum of the squared hidden kernels (no biases, not the
    output layer, no factor one half: the settings of the published runs); a negative `l2_penalty`
    stands for the paper's 1 / N.
    """

    l2_penalty: Float[Array | np.ndarray, ""]

    def penalty(self, module: Perceptron, n_rows: Int[Array, ""]) -> Float[Array, ""]:
        """The l2 penalty on the hidden kernels."""
        strength = jnp.where(self.l2_penalty < 0, 1 / n_rows, self.l2_penalty)
        kernels = (jnp.sum(layer.weight**2) for layer in module.hidden)
        return strength * sum(kernels, start=jnp.zeros(()))
