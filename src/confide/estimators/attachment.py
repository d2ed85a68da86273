"""What a fit leaves beside the networks, as a model file keeps it."""

from typing import Any, Protocol, Self

from confide.persistence import Arrays


class Attachment(Protocol):
    """A value that is kept as JSON and arrays; an estimator has it under its name and `_`."""

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """Its JSON and its arrays."""
        ...

    @classmethod
    def from_file(cls, payload: Any, arrays: Arrays) -> Self:
        """The value from a file, checked.

        Raises:
            ValueError: the parts do not fit together.
        """
        ...
