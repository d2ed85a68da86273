"""From an estimator's arguments to networks in PyTorch, checked before anything is trained."""

from typing import Any

from confide.checks import require_positive, require_whole
from confide.extras import require
from confide.learners.ensemble import refuse_learning_rate_beside
from confide.learners.likelihood import Normal, SquaredError
from confide.learners.networks import PAPER, n_threads
from confide.learners.protocol import Learner


def torch_networks(
    make: Any,
    n_features: int,
    *,
    batch_size: int = PAPER["batch_size"],
    learning_rate: Any = PAPER["learning_rate"],
    optimiser: Any = None,
    device: str | None = None,
    n_jobs: int | None = None,
) -> Learner[Any]:
    """Networks of the user's own in PyTorch.

    Args:
        make: a function from the number of features to a `torch.nn.Module`, which maps a batch
            (row, feature) to means, or to means and log standard deviations.
        n_features: the number of features.
        batch_size: rows in a step.
        learning_rate: Adam's step size, or a function from an optimiser and the number of steps to
            a scheduler, which changes it after every step.
        optimiser: a function from parameters to an optimiser, or None for Adam.
        device: where members are trained, or None for the processor.
        n_jobs: PyTorch's threads in training.

    Returns:
        The learner, after its arguments and a small batch were tried.
    """
    torch = require("torch", "torch")
    from confide.learners.torch_ensemble import TorchEnsemble
    from confide.learners.torch_modules import tried, vector_of
    from confide.learners.torch_training import Recipe

    require_whole("batch_size", batch_size, "It is the number of rows in a step.")
    is_schedule = callable(learning_rate)
    if not is_schedule:
        require_positive(
            "learning_rate",
            learning_rate,
            "Pass for example 1e-3, or a function from an optimiser and the number of steps to a "
            "scheduler.",
        )
        refuse_learning_rate_beside(optimiser, learning_rate)
    where = _device(torch, device)
    own, n_outputs = tried(make, n_features, int(batch_size))
    module = own.template()
    if optimiser is not None:
        _check_optimiser(torch, optimiser, module)
    recipe = Recipe(
        learning_rate=PAPER["learning_rate"] if is_schedule else float(learning_rate),
        optimiser=optimiser,
        scheduler=learning_rate if is_schedule else None,
    )
    if is_schedule:
        _check_schedule(torch, learning_rate, recipe.optimiser_of(module, vector_of(module)))
    return TorchEnsemble(
        own,
        Normal() if n_outputs == 2 else SquaredError(),
        recipe,
        batch_size=int(batch_size),
        device=where,
        n_threads=n_threads(n_jobs),
    )


def _device(torch: Any, name: str | None) -> Any:
    """The device, if PyTorch can compute there."""
    try:
        device = torch.device(name or "cpu")
        torch.zeros(1, device=device).cpu()
    except (AssertionError, NotImplementedError, RuntimeError, TypeError) as error:
        raise ValueError(
            f"`device` must be one that PyTorch can use here, such as 'cpu' or 'cuda', got "
            f"{name!r}. PyTorch says: {str(error).splitlines()[0]}"
        ) from error
    return device


def _check_optimiser(torch: Any, optimiser: Any, module: Any) -> None:
    """Tries the function that makes optimisers."""
    came, why = repr(optimiser), ""
    if isinstance(optimiser, torch.optim.Optimizer):
        why = " An optimiser belongs to one network, and every member needs its own."
    elif callable(optimiser):
        made = optimiser(list(module.parameters()))
        if isinstance(made, torch.optim.Optimizer):
            return
        came = f"one that returned {made!r}"
    raise TypeError(
        "`optimiser` must be a function from parameters to a torch.optim.Optimizer, got "
        f"{came}.{why} Pass for example functools.partial(torch.optim.SGD, lr=0.01)."
    )


def _check_schedule(torch: Any, schedule: Any, optimiser: Any) -> None:
    """Tries the schedule for 1000 steps."""
    try:
        made = schedule(optimiser, 1000)
    except Exception as error:
        error.add_note("This was `learning_rate`, called with an optimiser and 1000 steps.")
        raise
    schedulers = torch.optim.lr_scheduler
    if not isinstance(made, schedulers.LRScheduler):
        raise TypeError(
            "`learning_rate` must be a number, or a function from an optimiser and the number of "
            f"steps to a torch.optim.lr_scheduler.LRScheduler, but yours returned {made!r}."
        )
    if isinstance(made, schedulers.ReduceLROnPlateau):
        raise TypeError(
            "`learning_rate` must be a scheduler that knows the steps alone, got "
            "ReduceLROnPlateau, which waits for a score. Pass for example lambda optimiser, steps: "
            "torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)."
        )
