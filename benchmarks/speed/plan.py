"""Who is measured, and how: contenders and schedules."""

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from peer_loops._shared import epochs_before_and_after_snapshot

CONFIDE = "confide"
"""Name under which our own estimator goes; all other names are peers."""

HIDDEN = (40, 30, 20)
BATCH_SIZE = 32
"""Widths and batches are everyone's defaults; no measurement changes them."""

Shape: TypeAlias = tuple[int, int]
"""Rows and features of a table."""


@dataclass(frozen=True)
class Contender:
    """One way to fit an ensemble.

    Attributes:
        label: Its name in tables.
        name: `confide`, or its name among the peers.
        bootstrapped: Whether it repeats epochs on simulated targets.
        slow: Whether a long table takes it minutes, so that few epochs are measured.
        arguments: Further arguments of its `fit`.
        environment: Variables of its process.
    """

    label: str
    name: str
    bootstrapped: bool = True
    slow: bool = False
    arguments: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def trained_epochs(self, epochs: int, retrain_fraction: float) -> int:
        """Passes over the data per member, those on simulated targets included."""
        repeated = epochs_before_and_after_snapshot(epochs, retrain_fraction)[1]
        return epochs + (repeated if self.bootstrapped else 0)


OURS = Contender("confide", CONFIDE)
RIVALS = (
    Contender("Keras loop", "keras_loop", slow=True),
    Contender("PyTorch loop", "torch_loop", slow=True),
    Contender(
        "PyTorch loop, 1 thread", "torch_loop", slow=True, environment={"OMP_NUM_THREADS": "1"}
    ),
    Contender(
        "sklearn-contrib-bde, same updates",
        "sklearn_contrib_bde",
        bootstrapped=False,
        slow=True,
        arguments={"match": "updates"},
    ),
    Contender(
        "sklearn-contrib-bde, same epochs",
        "sklearn_contrib_bde",
        bootstrapped=False,
        arguments={"match": "epochs"},
    ),
    Contender("scikit-learn MLPRegressors", "sklearn_mlp", bootstrapped=False),
)


@dataclass(frozen=True)
class Plan:
    """What is measured, and how often.

    Attributes:
        shapes: Rows and features of the tables that all contenders fit.
        epochs: Passes over the data.
        n_members: Members of the ensembles.
        many_members: Members of the large ensemble in the comparison with the machine's peak.
        retrain_fraction: Share of the epochs that is repeated.
        slow_from_rows: Tables from this length on take slow contenders minutes.
        slow_epochs: Two numbers of epochs to draw the line through.
        growth_rows: Lengths of the growing table, with `growth_features` columns.
        growth_features: Columns of the growing and of the large table.
        growth_members: Sizes of the growing ensemble, on the `small` table.
        growth_columns: Columns of the widening table, with as many rows as `small`.
        small: Table of the growing ensemble.
        simulated: Table of the many simulated data sets.
        n_sets: How many they are.
        matrix_size: Rows and columns of the matrices multiplied for the machine's peak.
        long_epochs: Epochs on growing and large tables: enough to see the time of one, few enough
            for a million rows.
        long_fraction: Share of them that is repeated.
        repeats: Warm fits of each.
        cold_processes: Fresh processes of each.
        budget_seconds: No further repeat is begun after so many seconds of them.
    """

    shapes: tuple[Shape, ...] = ((404, 13), (6553, 8))
    epochs: int = 80
    n_members: int = 5
    many_members: int = 16
    retrain_fraction: float = 0.3
    slow_from_rows: int = 1000
    slow_epochs: tuple[int, ...] = (2, 8)
    growth_rows: tuple[int, ...] = (1000, 10_000, 100_000, 1_000_000)
    growth_features: int = 20
    growth_members: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)
    growth_columns: tuple[int, ...] = (1, 3, 10, 30, 100, 300, 1000)
    small: Shape = (1000, 8)
    simulated: Shape = (824, 8)
    n_sets: int = 100
    matrix_size: int = 3000
    long_epochs: int = 2
    long_fraction: float = 0.5
    repeats: int = 5
    cold_processes: int = 3
    budget_seconds: float = 50.0


QUICK = Plan(
    shapes=((200, 2),),
    epochs=6,
    n_members=2,
    many_members=2,
    slow_from_rows=100,
    slow_epochs=(2, 4),
    growth_rows=(200, 400),
    growth_features=2,
    growth_members=(1, 2),
    growth_columns=(2, 3),
    small=(200, 2),
    simulated=(200, 2),
    n_sets=4,
    matrix_size=300,
    repeats=1,
    cold_processes=1,
    budget_seconds=5.0,
)


def shape_name(shape: Shape) -> str:
    """Rows by features.

    Example:
        >>> shape_name((1_000_000, 20))
        '1,000,000 x 20'
    """
    return f"{shape[0]:,} x {shape[1]:,}"
