"""The procedure of `confide`, written the plain way with the libraries people use today.

Each module is one peer of the speed and quality comparisons, with one contract:

    fit(X, y, *, n_members=5, epochs=80, batch_size=32, hidden=(40, 30, 20),
        retrain_fraction=0.3, seed=0) -> fitted
    predict(fitted, X) -> ensemble mean on the scale of `y`,
                          or an `EnsemblePrediction` with the variances beside it

None is slowed down on purpose and none is tuned beyond what its library's manual
suggests. All standardise `X` and `y` with the training rows' mean and standard deviation.

| | `keras_loop` | `torch_loop` | `sklearn_contrib_bde` | `sklearn_mlp` |
|---|---|---|---|---|
| library | Keras 3 on TensorFlow | PyTorch | sklearn-contrib-bde (JAX) | scikit-learn |
| members | one by one | one by one | one `vmap` | one by one |
| widths 40-30-20, ReLU, Adam 1e-3 | yes | yes | yes | yes |
| batches of 32, reshuffled | yes | yes | no: full batch only | yes |
| updates per epoch | 1 per batch | 1 per batch | the same, or 1 (`match`) | 1 per batch |
| rows trained on | all | all | 85 %, the rest picks the epoch | all |
| l2 of sum(w^2) / N | hidden kernels | hidden kernels | none | all kernels |
| variance head (Gaussian likelihood) | yes | yes | yes | no: squared error |
| snapshot of weights and optimiser | file on disk | deep copy in memory | no | no |
| retrains on simulated targets | yes | yes | no | no |
| epochs per member | 80 + 24 | 80 + 24 | 80 | 80 |
| `predict` returns | mean, three variances | mean, three variances | mean | mean |
| work that cannot be skipped | | | one sampler step; compiles in each `fit` | |

When times are compared, the two on the left do 30 % more epochs than the two on the
right and give a confidence interval for it. Run each peer in a process of its own, on an
idle machine: they share neither thread pools nor JAX settings well.

Importing this package imports none of the libraries; `load` imports one of them.
"""

import difflib
import importlib
from types import ModuleType

__all__ = ["PEERS", "load"]

PEERS: dict[str, str] = {
    "keras_loop": f"{__name__}.keras_loop",
    "sklearn_contrib_bde": f"{__name__}.sklearn_contrib_bde",
    "sklearn_mlp": f"{__name__}.sklearn_mlp",
    "torch_loop": f"{__name__}.torch_loop",
}
"""Name of each peer and the module that holds its `fit` and `predict`."""


def load(name: str) -> ModuleType:
    """Import one peer, and with it the library it is written in.

    Args:
        name: One of the keys of `PEERS`.

    Returns:
        The module, with `fit` and `predict`.

    Raises:
        ValueError: If there is no peer of that name.
        ImportError: If its library is not installed.
    """
    if name not in PEERS:
        raise ValueError(_unknown_peer_message(name))
    try:
        return importlib.import_module(PEERS[name])
    except ImportError as error:
        raise ImportError(
            f"The peer {name!r} needs a library that cannot be imported here ({error}). "
            "Install the peers with: pip install 'confide[peers]'",
            name=error.name,
        ) from error


def _unknown_peer_message(name: str) -> str:
    """Say what was asked for, what there is, and what was probably meant."""
    nearest = difflib.get_close_matches(name, PEERS, n=1, cutoff=0)[0]
    return f"`name` must be one of {sorted(PEERS)}, got {name!r}. Did you mean {nearest!r}?"
