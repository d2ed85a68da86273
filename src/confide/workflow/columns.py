"""Columns of a table as the person with the table means them."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from confide.encoding import Encoder
from confide.errors import TargetError

if TYPE_CHECKING:
    import pyarrow as pa


# Rows and columns of a table that are looked at to tell what the networks will see.
MOST_LOOKED_AT = 2_000, 1_000


def about_features(table: "pa.Table") -> tuple[int, int]:
    """How many numbers of a row the networks will see, roughly: a text is one for each category.

    Also how many of them have but two values, which take less time.
    """
    rows, columns = MOST_LOOKED_AT
    if table.num_columns <= columns:  # of more, nearly all are numbers
        with suppress(ValueError):  # the fit says what is wrong
            encoder = Encoder.fit(table.slice(0, rows))
            return len(encoder.feature_names), len(encoder.indicators)
    return table.num_columns, 0


def as_meant(
    table: "pa.Table",
    *,
    exclude: Sequence[str] = (),
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
) -> "pa.Table":
    """A table without some columns, with some as categories and some as numbers.

    Args:
        table: any.
        exclude: columns to leave out.
        categorical: columns whose values are categories, such as codes that are whole numbers.
        numeric: columns that are numbers to learn from, even if they seem to count the rows.

    Returns:
        The table.

    Raises:
        TargetError: there is no such column, or it cannot be read so.
    """
    import pyarrow as pa

    kinds = {"leave out": exclude, "use as categories": categorical, "use as numbers": numeric}
    for purpose, names in kinds.items():
        for name in names:
            if name not in table.column_names:
                raise TargetError.of_missing(name, table.column_names, purpose)
    for name in categorical:
        column = table.column(name)
        if pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
            raise TargetError(
                f"{name!r} cannot be categories: its numbers have decimals. Categories must be "
                "text or whole numbers."
            )
        texts = column.cast(pa.string()).dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, texts)
    for name in numeric:
        try:
            numbers = table.column(name).cast(pa.float64(), safe=False)
        except pa.ArrowException as error:
            raise TargetError(
                f"{name!r} cannot be numbers: {str(error).splitlines()[0]}. Correct its values, "
                "or use it as it is."
            ) from error
        table = table.set_column(table.column_names.index(name), name, numbers)
    return table.drop_columns(list(exclude))
