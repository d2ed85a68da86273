"""What only training can show."""

from typing import Any


class TrainingDivergedError(ValueError):
    """A member's loss stopped being finite.

    Attributes:
        problem: that, without the advice, which is for Python.
    """

    def __init__(self, member: int, epoch: int, step: int) -> None:
        self.problem = (
            f"The loss must stay finite, but that of member {member} was not at step {step} "
            f"(epoch {epoch})."
        )
        super().__init__(
            f"{self.problem} Lower `learning_rate`, or look for extreme values in X, y and sample "
            "weights."
        )
        self.member, self.epoch, self.step = member, epoch, step

    def __reduce__(self) -> tuple[type, tuple[int, int, int], dict[str, Any]]:
        """So that it travels between processes, with its notes."""
        return type(self), (self.member, self.epoch, self.step), self.__dict__
