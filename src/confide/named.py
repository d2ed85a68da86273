"""Values by name: the error for a mistyped name suggests the nearest one."""

from typing import TypeVar

from confide.errors import nearest

Value = TypeVar("Value")


class Named(dict[str, Value]):
    """A dictionary of one kind of value; the error for an unknown name lists the known ones."""

    def __init__(self, kind: str, values: dict[str, Value]) -> None:
        super().__init__(values)
        self.kind = kind

    def __missing__(self, name: str) -> Value:
        names = tuple(self)
        message = f"There is no {self.kind} {name!r}; there are {names}. {nearest(name, names)}"
        raise ValueError(message.rstrip())
