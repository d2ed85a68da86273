"""JSON from a file, checked against the annotations of the dataclass that it becomes."""

from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints


def checked_json(kind: Any, value: Any, name: str = "a value") -> Any:
    """A value of JSON as its annotation says.

    Lists become tuples, objects mappings or dataclasses, and names numbers where a mapping has such
    keys; all else has that very type.

    Example:
        >>> checked_json(tuple[int, ...], [1, 2])
        (1, 2)
        >>> checked_json(Mapping[float, str | None], {"0.5": None})
        {0.5: None}

    Raises:
        ValueError: it has another type.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin is UnionType:
        return _checked_choice(inner, value, name)
    if origin is tuple and type(value) in (list, tuple):
        kinds = inner[:1] * len(value) if inner[-1] is Ellipsis else inner
        if len(kinds) != len(value):
            raise ValueError(f"{name} must have {len(kinds)} entries: {value!r:.40}")
        pairs = zip(kinds, value, strict=True)
        return tuple(checked_json(own, item, name) for own, item in pairs)
    if origin is Mapping and type(value) is dict:
        return {inner[0](key): checked_json(inner[1], item, name) for key, item in value.items()}
    if is_dataclass(kind) and isinstance(kind, type):
        return kind(**checked_fields(kind, value))
    if origin is not None or type(value) is not kind:
        raise ValueError(f"{name} is of the wrong type: {value!r:.40}")
    return value


def _checked_choice(kinds: tuple[Any, ...], value: Any, name: str) -> Any:
    """A value of one of several kinds, none of which is made of others."""
    if type(value) not in kinds:
        raise ValueError(f"{name} is of the wrong type: {value!r:.40}")
    return value


def checked_fields(cls: type, payload: Any, *, besides: Collection[str] = ()) -> dict[str, Any]:
    """The arguments of a dataclass from a JSON object, each checked against its annotation.

    Fields with a default may be absent, as they are in files that are older than the field.

    Args:
        cls: the dataclass.
        payload: what the file holds.
        besides: fields that come from elsewhere, such as from arrays.

    Returns:
        The values by name.

    Raises:
        ValueError: a field is missing, unknown or of the wrong type.
    """
    kinds = get_type_hints(cls)
    known = [field for field in fields(cls) if field.name not in besides]
    names = {field.name for field in known}
    needed = {f.name for f in known if f.default is MISSING and f.default_factory is MISSING}
    if type(payload) is not dict or not needed <= payload.keys() <= names:
        raise ValueError(f"{cls.__name__} lacks parts, or has parts that are unknown")
    return {name: checked_json(kinds[name], payload[name], name) for name in payload}
