"""A PyTorch module of the user's own: made, tried, and its weights as one vector."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from jaxtyping import Float, UInt32
from torch import Tensor, nn

from confide.randomness import generator_from

Make: TypeAlias = Callable[[int], Any]
"""From the number of features to a module that maps a batch of rows to their outputs."""

# Streams of one key, told apart.
INITIALISATION, ORDER, LAYERS = range(3)
# With three rows, outputs of shape (3,) or (3, 2) cannot be taken for one another.
ROWS_TO_TRY = 3
CPU = torch.device("cpu")


@contextmanager
def seeded(key: UInt32[np.ndarray, "2"], *path: int, device: torch.device = CPU) -> Iterator[None]:
    """PyTorch's global generator seeded from a key; afterwards it is as it was.

    Args:
        key: of a member.
        path: tells streams of one key apart.
        device: whose generator is meant, beside the processor's.
    """
    seed = int(generator_from(key, *path).integers(2**63))
    on_gpu = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=on_gpu):
        if on_gpu:
            torch.manual_seed(seed)
        else:  # `torch.manual_seed` would seed GPUs too, which are not restored
            torch.default_generator.manual_seed(seed)
        yield


@contextmanager
def threads(n_threads: int) -> Iterator[None]:
    """PyTorch's number of threads set, and afterwards as it was."""
    before = torch.get_num_threads()
    torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def generator_state(device: torch.device) -> Tensor:
    """The state of the global generator that layers on a device draw from."""
    if device.type == "cuda":
        return torch.cuda.get_rng_state(device)
    return torch.random.get_rng_state()


@dataclass(frozen=True)
class OwnModule:
    """The user's factory for a number of features.

    Attributes:
        make: the factory.
        n_features: the number of features.
    """

    make: Make
    n_features: int

    def made(self, key: UInt32[np.ndarray, "2"]) -> nn.Module:
        """A new module, its weights drawn with that key."""
        with seeded(key, INITIALISATION):
            module = self.make(self.n_features)
            if any(map(nn.parameter.is_lazy, (*module.parameters(), *module.buffers()))):
                module.eval()  # lazy layers draw their weights when they see a first batch
                module(torch.zeros(ROWS_TO_TRY, self.n_features))
        # A part may be the user's, such as a pretrained layer, and must stay as it is.
        return copy.deepcopy(module)

    def template(self) -> nn.Module:
        """A module whose weights are of no interest."""
        return self.made(np.zeros(2, np.uint32))


def trained_parts(module: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters that training changes."""
    return {name: p for name, p in module.named_parameters() if p.requires_grad}


def fixed_parts(module: nn.Module) -> dict[str, Tensor]:
    """What no gradient changes: buffers, and parameters that are frozen."""
    frozen = {name: p for name, p in module.named_parameters() if not p.requires_grad}
    return {**dict(module.named_buffers()), **frozen}


def vector_of(module: nn.Module) -> Float[Tensor, " parameter"]:
    """The trained parameters, one after the other."""
    return torch.cat([p.detach().flatten() for p in trained_parts(module).values()])


def set_parts(
    module: nn.Module, vectors: Float[Tensor, "*member parameter"], fixed: dict[str, Tensor]
) -> None:
    """Gives a module these weights; its parameters are views of `vectors` from then on.

    Args:
        module: whose parts are set.
        vectors: the trained parameters of one member, or of several.
        fixed: the other parts.
    """
    parameters = list(trained_parts(module).values())
    pieces = torch.split(vectors, [p.numel() for p in parameters], dim=-1)
    for parameter, piece in zip(parameters, pieces, strict=True):
        parameter.data = piece.view((*vectors.shape[:-1], *parameter.shape))
    for name, part in fixed_parts(module).items():
        part.data = fixed[name].clone()  # a module may change it


def tried(make: Make, n_features: int, batch_size: int) -> tuple[OwnModule, int]:
    """The module that a factory makes, and its number of outputs, tried on a small batch.

    Args:
        make: the user's factory.
        n_features: the number of features.
        batch_size: rows in a step.
    """
    _refuse_other_than_new_modules(make, n_features)
    own = OwnModule(make, n_features)
    module = own.template()
    _refuse_weights(module)
    n_training = _n_outputs(module.train(), min(ROWS_TO_TRY, batch_size), n_features)
    n_outputs = _n_outputs(module.eval(), ROWS_TO_TRY, n_features)
    if n_training != n_outputs:
        raise ValueError(
            "`network` must have as many outputs in training as in evaluation mode, got "
            f"{n_training} and {n_outputs}. Let `forward` return the same in both."
        )
    _refuse_other_than_functions_of_rows(own)
    return own, n_outputs


def _refuse_other_than_new_modules(make: Make, n_features: int) -> None:
    with seeded(np.zeros(2, np.uint32), INITIALISATION):
        first, second = make(n_features), make(n_features)
    if not isinstance(first, nn.Module):
        came = "None" if first is None else f"an object of type {type(first).__name__}"
        raise TypeError(
            "`network` must be a function make(n_features) that returns a torch.nn.Module, but it "
            f"returned {came}. For JAX, write make(key, n_features)."
        )
    if first is second:
        raise ValueError(
            "`network` must make a new module at every call, but it returned the same one twice. "
            "Build the module inside the function: members start from different weights."
        )


def _refuse_weights(module: nn.Module) -> None:
    """Refuses what cannot be trained, and what a model file could not keep."""
    parameters = trained_parts(module)
    if not parameters:
        raise ValueError(
            "`network` must have parameters to train, and the module that it made has none. Give "
            "it a layer, or leave `requires_grad` at True."
        )
    others = {name: p.dtype for name, p in parameters.items() if p.dtype != torch.float32}
    for name, dtype in others.items():
        raise ValueError(
            f"`network` must have parameters of type torch.float32, but {name!r} is {dtype}. Leave "
            "out calls such as `.double()` or `.half()`."
        )
    for name, part in fixed_parts(module).items():
        try:
            part.detach().numpy()
        except TypeError as error:
            raise ValueError(
                f"`network` must have buffers of types that NumPy has too, but {name!r} is "
                f"{part.dtype}. Use torch.float32: a model file could not keep it."
            ) from error


def _n_outputs(module: nn.Module, n_rows: int, n_features: int) -> int:
    """How many numbers the module has for each row of a batch."""
    mode = "training" if module.training else "evaluation"
    batch = f"a batch of shape ({n_rows}, {n_features}) in {mode} mode"
    try:
        with seeded(np.zeros(2, np.uint32), LAYERS), torch.no_grad():
            outputs = module(torch.zeros(n_rows, n_features))
    except Exception as error:
        error.add_note(f"This was `network`, tried on {batch}: confide gives it (row, feature).")
        raise
    shape = tuple(outputs.shape) if isinstance(outputs, Tensor) else None
    if shape not in {(n_rows,), (n_rows, 1), (n_rows, 2)}:
        came = f"an object of type {type(outputs).__name__}" if shape is None else f"shape {shape}"
        raise ValueError(
            "`network` must map a batch to means, or to means and log standard deviations: for "
            f"{batch} its outputs must have shape ({n_rows},), ({n_rows}, 1) or ({n_rows}, 2), got "
            f"{came}. Give its last layer one or two outputs."
        )
    return 2 if shape == (n_rows, 2) else 1


def _refuse_other_than_functions_of_rows(own: OwnModule) -> None:
    """Refuses predictions that depend on more than the row, the parameters and the buffers."""
    module, made_again = own.template().eval(), own.template().eval()
    set_parts(made_again, vector_of(module), fixed_parts(module))
    rows = np.random.default_rng(0).normal(size=(ROWS_TO_TRY, own.n_features))
    X = torch.from_numpy(rows.astype(np.float32))
    among_others = torch.cat([X[:1], 1 - 2 * X[1:]])
    with seeded(np.zeros(2, np.uint32), LAYERS), torch.no_grad():
        expected = module(X)[0]
        answers = [module(X)[0], module(among_others)[0], made_again(X)[0]]
    causes = (
        "predictions are random",
        "predictions depend on the other rows",
        "two modules that it made differ",
    )
    cures = (
        "Pass `self.training` to functions such as dropout",
        "Let BatchNorm track its running statistics, and take no means over the rows of a batch",
        "Keep its numbers as parameters or buffers: others are new in every module",
    )
    for answer, cause, cure in zip(answers, causes, cures, strict=True):
        if not torch.allclose(answer, expected, rtol=1e-4, atol=1e-5, equal_nan=True):
            raise ValueError(
                "`network` must predict the same for the same row, weights and buffers in "
                f"evaluation mode, but {cause}. {cure}."
            )
