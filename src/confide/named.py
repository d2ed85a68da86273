"""Values by name: a mistyped name is answered with the nearest one."""

from typing import TypeVar

from confide.errors import nearest

Value = TypeVar("Value")


class Named(dict[str, Value]):
    """A dictionary of one kind of things that says what it has when asked for what it has not."""

    def __init__(self, kind: str, values: dict[str, Value]) -> None:
        super().__init__(values)
        self.kind = kind

    def __missing__(self, name: str) -> Value:
        names = tuple(self)
        message = f"There is no {self.kind} {name!r}; there are {names}. {nearest(name, names)}"
        raise ValueError(message.rstrip())
