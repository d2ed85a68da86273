"""A table of any kinds of columns as one matrix of numbers."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

import narwhals as nw
import numpy as np
from jaxtyping import Bool, Float, Int64
from sklearn.utils import check_array

from confide.budget import BYTES_PER_TRAINED_CELL, refuse_beyond_memory
from confide.encoding.amounts import read_amounts, with_amounts_read
from confide.encoding.columns import (
    CategoryColumn,
    Column,
    DateColumn,
    LeftOutColumn,
    ManyCategoriesColumn,
    News,
    NumberColumn,
    NumericColumn,
    TimeColumn,
    WordsColumn,
    WrittenNumberColumn,
    column_from_json,
)
from confide.encoding.fitted_columns import (
    MOST_WORDS,
    fitted_column,
    may_have_words,
    with_words,
    words_in,
)
from confide.encoding.reading import Rows, Source, sources
from confide.encoding.target_means import N_FOLDS, folds_of, out_of_fold_means
from confide.encoding.texts import ORDERS, is_date, with_dates_read, with_written_dates_read
from confide.encoding.words import telling_words, untold
from confide.errors import RowError, listed
from confide.fingerprints import Groups
from confide.persistence import Arrays

# Of more rows, so many are drawn by chance to choose the words of free text.
MOST_ROWS_READ = 10_000
Matrix: TypeAlias = Float[np.ndarray, "row feature"]
# For each column that has some: how often each value came that training did not have.
Unseen: TypeAlias = dict[str, News]


@dataclass(frozen=True)
class Encoder:
    """How a table of pandas, polars or pyarrow is turned into numbers; the same data, the same.

    - *Numbers* stay as they are. Missing ones become the median, and, where training had enough of
      them, an indicator says so. Whole numbers that are all different are left out if they have
      the name of an identifier, such as id, or count the rows from 0 or 1 (unless the name is that
      of a time, such as day, or a letter other than the X of a first column, as R has it). To use
      such a column, pass it as floats.
      Text that is all numbers as people write them, such as $1,234.50 or 7%, is numbers.
    - *Categories and text* become an indicator for each value that is common enough in training (at
      least 5 rows and 0.5 % of them; the 30 most common). The rest share one, and missing values
      have their own, where there are enough of them. Where there are more than 30 values, and the
      targets differ between them by more than chance, each value also becomes its mean target,
      drawn towards the mean of all the more, the fewer rows it has; a value that training did not
      have becomes the mean. For rows of the training table the mean is over rows of other folds.
      Free text, which is another in nearly every row, becomes an indicator for each word with
      which the target moves, beyond what the other columns tell (at most 30 words). Up to three
      texts may come often, such as "none". Words are letters, two at least, in lower case. To use
      such a column as categories, give it that type. Other text without a common value, such as an
      identifier, is left out.
    - *Booleans* become 0 and 1.
    - *Dates* become days, and sine and cosine of the time of the year, of the week and of the day,
      where training spans at least one of them. Dates with a zone are read on its clock. Text that
      is all dates in one order, such as 2020-03-25 14:30, 3/25/2020 or 25.03.20, is dates; so is
      text with the names of English months, such as Mar 25, 2020 or 25-Mar-20.
    - *Times of the day*, or text such as 14:30, become sine and cosine, *durations* seconds.
    - Columns in which everything is missing are left out.

    Attributes:
        columns: for each column of the table, its name, kind and facts.

    Example:
        >>> import pandas as pd
        >>> table = pd.DataFrame({"size": [1, 2, 9] * 5, "colour": ["red", "blue", "red"] * 5})
        >>> encoder = Encoder.fit(table)
        >>> encoder.feature_names
        ('size', 'colour=blue', 'colour=red')
        >>> encoder.encode(table[:2])
        array([[1., 0., 1.],
               [2., 1., 0.]])
    """

    columns: tuple[Column, ...]

    @classmethod
    def fit(cls, table: Any, y: Rows | None = None) -> Self:
        """Learns from the rows of a training table.

        Args:
            table: of pandas, polars or pyarrow.
            y: the target of each row, to use columns of many categories and to choose the words
                of free text; None for the most common words.

        Returns:
            The encoder.

        Raises:
            ValueError: columns that are not taken, or of which none is of use.
        """
        given, y = sources(table), None if y is None else np.asarray(y, np.float64)
        if odd := [f"{source.name} ({source.dtype})" for source in given if source.kind is None]:
            raise ValueError(
                "Columns must contain numbers, text, categories, dates, times, durations or "
                f"booleans, but these do not: {', '.join(odd)}. Drop or convert them."
            )
        given = [
            with_amounts_read(with_written_dates_read(with_dates_read(source))) for source in given
        ]
        places = enumerate(given)
        encoder = cls(tuple(fitted_column(s, y, is_first=place == 0) for place, s in places))
        encoder = encoder._with_words(table, given, y)
        if not encoder.feature_names:  # the only column is no identifier
            encoder = cls(tuple(fitted_column(s, y, may_be_identifier=False) for s in given))
        if not encoder.feature_names:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in encoder.left_out.items())
            raise ValueError(
                f"X must have a column to learn from, but has none: {reasons}. Pass other columns."
            )
        if twice := [n for n, count in Counter(encoder.feature_names).items() if count > 1]:
            raise ValueError(
                f"Two columns would be learnt from under the same name: {listed(twice)}. Rename "
                "one of them."
            )
        return encoder

    def _with_words(self, table: Any, given: Sequence[Source], y: Rows | None) -> Self:
        """The same, with columns of free text by the words that tell what other columns do not."""
        rows = np.random.default_rng(0).permutation(len(table))[:MOST_ROWS_READ]
        found = {
            place: words_in(source, rows)
            for place, source in enumerate(given)
            if may_have_words(source, self.columns[place])
        }
        if not found:
            return self
        rest = None
        if y is not None and any(found.values()):  # it takes a while
            rest = untold(self.encode(table)[rows], y[rows])
        columns = list(self.columns)
        for place, words in found.items():
            telling = telling_words(words, len(rows), rest, MOST_WORDS)
            columns[place] = with_words(columns[place], given[place], telling)
        return replace(self, columns=tuple(columns))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the matrix's columns."""
        return tuple(name for column in self.columns for name in column.feature_names)

    @property
    def left_out(self) -> dict[str, str]:
        """The columns that are not used, and why."""
        return {c.name: c.reason for c in self.columns if isinstance(c, LeftOutColumn)}

    @property
    def neglected(self) -> dict[str, str]:
        """Those of them that may say something about the target all the same, and why."""
        left_out = (c for c in self.columns if isinstance(c, LeftOutColumn))
        return {column.name: column.reason for column in left_out if column.may_tell}

    @property
    def guessed_commas(self) -> list[str]:
        """The columns of written numbers whose commas could be before decimals too."""
        written = (c for c in self.columns if isinstance(c, WrittenNumberColumn))
        return [column.name for column in written if column.is_guess]

    @property
    def hints(self) -> dict[str, str]:
        """The columns that are used as categories, and what they were perhaps meant as."""
        categories = (c for c in self.columns if isinstance(c, CategoryColumn))
        return {column.name: hint for column in categories if (hint := column.hint)}

    @property
    def guessed_orders(self) -> dict[str, str]:
        """The columns of dates whose order of day and month is a guess, and that order."""
        dates = (c for c in self.columns if isinstance(c, DateColumn) and c.order_is_guess)
        return {column.name: str(column.order) for column in dates}

    @property
    def days(self) -> dict[str, str]:
        """The features that count days since 1970, and the columns of dates that they are of."""
        return {c.value_names[0]: c.name for c in self.columns if isinstance(c, DateColumn)}

    @property
    def waves(self) -> frozenset[str]:
        """The features that are sine or cosine of a time, which say nothing to people."""
        timed = (c for c in self.columns if isinstance(c, DateColumn | TimeColumn))
        names = (name for column in timed for name in column.value_names)
        return frozenset(name for name in names if name not in self.days)

    @property
    def has_target_means(self) -> bool:
        """Whether a column of many categories becomes mean targets."""
        return any(isinstance(column, ManyCategoriesColumn) for column in self.columns)

    @property
    def mean_targets(self) -> list[int]:
        """The positions of the features that are mean targets: new rows have others than fits."""
        many = {c.feature_names[-1] for c in self.columns if isinstance(c, ManyCategoriesColumn)}
        return [i for i, name in enumerate(self.feature_names) if name in many]

    @property
    def indicators(self) -> tuple[int, ...]:
        """The positions of the features that have but two values."""
        two = {name for column in self.columns for name in column.indicators}
        return tuple(i for i, name in enumerate(self.feature_names) if name in two)

    @property
    def told_if_missing(self) -> frozenset[str]:
        """The features of which another one says whether they are missing."""
        numeric = (c for c in self.columns if isinstance(c, NumericColumn) and c.has_indicator)
        return frozenset(name for column in numeric for name in column.value_names)

    def encode(self, table: Any) -> Matrix:
        """The matrix of a table with the columns of the training table; row by row."""
        return self.encode_and_report(table)[0]

    def encode_training(self, table: Any, y: Rows, groups: Groups | None = None) -> "EncodedTable":
        """The training table with its numbers: no mean target of a row has its own target in it.

        Args:
            table: the one that it was fitted to.
            y: the target of each row.
            groups: number of each row's group, whose targets do not enter either; or None.

        Returns:
            The table.
        """
        plain, unseen = self.encode_and_report(table)
        if not self.has_target_means:
            return EncodedTable(table, self, plain, unseen)
        matrix, stop = plain.copy(order="F"), 0
        folds = folds_of(plain) if groups is None else groups % N_FOLDS
        for column, source in zip(self.columns, sources(table), strict=True):
            stop += len(column.feature_names)
            if isinstance(column, ManyCategoriesColumn):
                means = out_of_fold_means(column.codes(source), y, folds, column.prior)
                matrix[:, stop - 1] = means
        return EncodedTable(table, self, matrix, unseen, plain)

    def unseen(self, table: Any) -> Unseen:
        """How often each category came that training did not have, None counting what is missing.

        Values that are missing count where none were in training.
        """
        return self.encode_and_report(table)[1]

    def count_new_categories(self, table: Any) -> Int64[np.ndarray, " row"]:
        """For each row, how many of its categories training did not have; missing ones are none."""
        count = np.zeros(len(table), np.int64)
        for column, source in zip(self.columns, self._fitting(sources(table)), strict=True):
            if isinstance(column, CategoryColumn):
                count += column.is_new(source)
        return count

    def codes(self, table: Any) -> dict[str, Int64[np.ndarray, " row"]]:
        """For each column of many categories, which of them a row has; -1 for none of them."""
        pairs = zip(self.columns, self._fitting(sources(table)), strict=True)
        return {c.name: c.codes(s) for c, s in pairs if isinstance(c, ManyCategoriesColumn)}

    def plain_values(self, table: Any) -> dict[str, Rows | list[str]]:
        """The values of each column in use, as numbers or texts; NaN or empty where missing.

        Dates are days since 1970, durations and times of the day are seconds; of a text there is
        for each word, under the name of its feature, whether the text has it.
        """
        values: dict[str, Rows | list[str]] = {}
        for column, source in zip(self.columns, self._fitting(sources(table)), strict=True):
            if isinstance(column, WordsColumn):
                values |= column.read(source)
            elif isinstance(column, NumericColumn | CategoryColumn):
                values[column.name] = column.read(source)
        return values

    def unseen_rows(
        self, table: Any, names: Collection[str]
    ) -> dict[str, Bool[np.ndarray, " row"]]:
        """For each of the named columns, which rows have a value that training did not have."""
        given = zip(self.columns, self._fitting(sources(table)), strict=True)
        return {c.name: c.is_unseen(source) for c, source in given if c.name in names}

    @property
    def feature_columns(self) -> list[str]:
        """For each of the matrix's columns the column of the table that it is of."""
        return [column.name for column in self.columns for _ in column.feature_names]

    def encode_and_report(self, table: Any) -> tuple[Matrix, Unseen]:
        """The matrix, and how often each value came that training did not have.

        Raises:
            ValueError: the table does not fit: its columns, their types, or infinite numbers.
        """
        given = self._fitting(sources(table))
        plain = (isinstance(c, NumberColumn) and not c.has_indicator for c in self.columns)
        if all(plain) and all(_is_plain(source) for source in given):
            # As scikit-learn reads them, to the last bit and the order in memory.
            matrix = check_array(
                table, dtype=(np.float64, np.float32), ensure_all_finite=False, ensure_min_samples=0
            )
            if np.isfinite(matrix).all():
                return matrix, {}
        matrix = np.empty((len(table), len(self.feature_names)), order="F")
        unseen, start = {}, 0
        for column, source in zip(self.columns, given, strict=True):
            stop = start + len(column.feature_names)
            if news := column.fill(matrix[:, start:stop], source):
                unseen[column.name] = news
            start = stop
        return matrix, unseen

    def to_file(self) -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps."""
        return {"columns": [column.to_json() for column in self.columns]}, {}

    @classmethod
    def from_file(cls, payload: Any, arrays: Arrays) -> Self:
        """From a model file, checked."""
        if arrays or not isinstance(payload, dict) or not isinstance(payload.get("columns"), list):
            raise ValueError("the encoder is no list of columns")
        encoder = cls(tuple(map(column_from_json, payload["columns"])))
        if not encoder.feature_names:
            raise ValueError("the encoder has no column that is used")
        return encoder

    def _fitting(self, given: Sequence[Source]) -> Sequence[Source]:
        """The columns of a table, if they are those of training."""
        needed, names = ([column.name for column in some] for some in (self.columns, given))
        if names != needed:
            raise ValueError(
                f"The table must have the columns {', '.join(needed)}, as in training, but has "
                f"{', '.join(names)}. Pass all of them, in their order."
            )
        given = [_as_trained(c, source) for c, source in zip(self.columns, given, strict=True)]
        for column, source in zip(self.columns, given, strict=True):
            _refuse_odd_date(column, source)
        odd = [
            f"{column.name} needs {column.needed}, got {_type_of(column, source)}"
            for column, source in zip(self.columns, given, strict=True)
            if not column.accepts(source)
        ]
        if odd:
            raise ValueError(
                "Columns must contain the same kind of values as in training, but these do not: "
                f"{'; '.join(odd)}. Convert them, or fit the model again."
            )
        return given


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """A table with its numbers: estimators take it in place of the table, and encode nothing again.

    Attributes:
        table: as it was.
        encoder: what made the numbers.
        matrix: the numbers.
        unseen: what to warn of when the rows are predicted.
        as_new: the numbers that the rows would have if they were new, if they are others.
    """

    table: Any
    encoder: Encoder
    matrix: Matrix
    unseen: Unseen = field(default_factory=dict)
    as_new: Matrix | None = None

    @classmethod
    def for_training(
        cls, table: Any, y: Rows | None = None, groups: Groups | None = None
    ) -> "EncodedTable":
        """A table with the numbers of its own encoder.

        Args:
            table: to learn from.
            y: the target of each row, to use columns of many categories; or None.
            groups: number of each row's group, for what belongs together; or None.

        Returns:
            The table.
        """
        encoder = Encoder.fit(table, y)
        n_rows, n_features = len(table), len(encoder.feature_names)
        refuse_beyond_memory(
            BYTES_PER_TRAINED_CELL * n_rows * n_features,
            f"Learning from {n_rows:,} rows and {n_features:,} columns of numbers",
        )
        if y is None:
            return cls(table, encoder, encoder.encode(table))
        return encoder.encode_training(table, y, groups)

    @classmethod
    def of_numbers(cls, encoder: Encoder, matrix: Matrix) -> "EncodedTable":
        """Rows of which nothing but the numbers is at hand."""
        import pandas as pd

        return cls(pd.DataFrame(matrix, columns=list(encoder.feature_names)), encoder, matrix)

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.matrix)

    def __array__(self, *arguments: Any, **keywords: Any) -> np.ndarray:
        """Its numbers."""
        return np.array(self.matrix, *arguments, **keywords)


def _as_trained(column: Column, source: Source) -> Source:
    """A column of text as the dates or numbers that it was in training, if it is these."""
    if isinstance(column, DateColumn | TimeColumn):
        return with_dates_read(source, getattr(column, "order", None))
    if isinstance(column, WrittenNumberColumn):
        return with_amounts_read(source, column.written)
    if (
        isinstance(column, CategoryColumn | WordsColumn)
        and source.kind == "number"
        and np.isnan(source.numbers()).all()
    ):
        return replace(source, kind="missing")  # without a value, it may have any type
    return source


def _refuse_odd_date(column: Column, source: Source) -> None:
    """Refuses a text that is no date among others that are, by its row."""
    if not (isinstance(column, DateColumn) and source.is_free_text):
        return
    texts = source.texts()
    read = {text: is_date(text, column.order) for text in texts.drop_nulls().unique().to_list()}
    # Where none is a date, it is another column, or another order: no row is to blame.
    if all(read.values()) or not any(read.values()):
        return
    rows = texts.to_list()
    row = next(i for i, text in enumerate(rows) if not read.get(text, True))  # missing: no key
    raise RowError(
        f"Column {column.name} needs dates in the order {ORDERS[column.order]}, as in training, "
        f"but is {rows[row]!r} at row {{row}}. Correct it, or leave it empty.",
        row,
    )


def _type_of(column: Column, source: Source) -> str:
    """The type of a column, and a text in it that is no date where dates were needed."""
    if isinstance(column, DateColumn) and source.is_free_text:
        texts = source.texts().drop_nulls().unique(maintain_order=True).to_list()
        odd = next((text for text in texts if not is_date(text, column.order)), None)
        return source.dtype if odd is None else f"{source.dtype} such as {odd!r}"
    if isinstance(column, WrittenNumberColumn) and source.is_free_text:
        texts = source.texts().drop_nulls().unique(maintain_order=True).to_list()
        odd = next((text for text in texts if read_amounts([text], column.written) is None), None)
        return source.dtype if odd is None else f"{source.dtype} such as {odd!r}"
    return source.dtype


def _is_plain(source: Source) -> bool:
    """Whether a column is numbers or booleans by its type, of a library that makes matrices."""
    makes_matrices = not nw.dependencies.is_pyarrow_chunked_array(source.series.to_native())
    dtype = source.series.dtype
    # NumPy has neither decimals nor whole numbers of 128 bits.
    foreign = dtype.is_decimal() or dtype in (nw.Int128, nw.UInt128)
    plain = dtype == nw.Boolean or (dtype.is_numeric() and not foreign)
    return makes_matrices and source.objects is None and plain
