"""Settings that every ensemble shares; nonsense is refused when they are built."""

from dataclasses import dataclass

from confide.checks import require_whole


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """How long one or several members are trained; the default is the paper's (Section 4.2).

    Attributes:
        max_epochs: passes over the data, or another learner's own steps.
    """

    max_epochs: int = 80

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        require_whole("max_epochs", self.max_epochs, "It is the number of passes over the data.")

    @property
    def n_networks(self) -> int:
        """How many members one fit trains side by side."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class EnsembleSettings(TrainingSettings):
    """Several members.

    Attributes:
        n_members: M, their number.
    """

    n_members: int = 5

    def __post_init__(self) -> None:
        """Refuses what cannot be meant."""
        super().__post_init__()
        require_whole("n_members", self.n_members, "It is the number of networks; 5 is usual.")

    @property
    def n_networks(self) -> int:
        """All members."""
        return int(self.n_members)


def require_several(n_members: int, what: str) -> None:
    """Refuses a single member where only several have a spread."""
    if n_members < 2:
        raise ValueError(
            f"`n_members` must be at least 2 for {what}, got {n_members}: one network cannot show "
            "how far random training moves it. Pass n_members=5, or use "
            "DeepEnsembleRegressor(n_members=1) for one plain network."
        )
