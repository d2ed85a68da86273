"""What becomes of a column: one class for each kind, immutable, kept in a file as JSON."""

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

import narwhals as nw
import numpy as np
from jaxtyping import Bool, Float64, Int

from confide.encoding.reading import Rows, Source, Written, known_zone
from confide.encoding.texts import ORDERS, PLACES, are_plain_numbers, hint
from confide.encoding.words import words_of
from confide.persistence import checked_fields

# More categories than this may have been meant as numbers or dates.
MANY_CATEGORIES = 20
# In days.
CYCLES = {"year": 365.2425, "week": 7.0, "day": 1.0}

# How often each text that training did not have came; None counts missing values.
News: TypeAlias = dict[str | None, int]
Features: TypeAlias = Float64[np.ndarray, "row feature"]


@dataclass(frozen=True)
class Column(ABC):
    """A column of the training table, and how it is turned into numbers.

    Attributes:
        name: its name in the table.
    """

    name: str
    kind: ClassVar[str]
    needed: ClassVar[str]
    # Kinds of column in another table that fit.
    accepted: ClassVar[frozenset[str]]

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """The names of the numbers that it becomes."""

    @abstractmethod
    def fill(self, features: Features, source: Source) -> News:
        """Writes its numbers; returns what training did not have."""

    def accepts(self, source: Source) -> bool:
        """Whether values of another table are of a kind that fits."""
        return source.kind in self.accepted

    def is_unseen(self, source: Source) -> Bool[np.ndarray, " row"]:
        """Which rows have a value, or miss one, as no row of the training data did."""
        return np.zeros(len(source.series), bool)

    @property
    def n_rare(self) -> int:
        """How many values training had that are rare, and without a number of their own."""
        return 0

    @property
    def indicators(self) -> tuple[str, ...]:
        """Those of its features that have but two values."""
        return ()

    def to_json(self) -> dict[str, Any]:
        """What a model file keeps."""
        return {"kind": self.kind, **asdict(self)}

    @property
    def problem(self) -> str | None:
        """What is wrong with facts from a model file, or None."""
        return None


@dataclass(frozen=True)
class LeftOutColumn(Column):
    """A column that the networks do not see.

    Attributes:
        reason: why, in words.
        may_tell: whether its values may say something about the target all the same.
    """

    reason: str
    may_tell: bool = False
    kind: ClassVar[str] = "left out"
    needed: ClassVar[str] = "anything"
    feature_names: ClassVar[tuple[str, ...]] = ()

    def accepts(self, source: Source) -> bool:  # noqa: ARG002
        """It is not looked at."""
        return True

    def fill(self, features: Features, source: Source) -> News:  # noqa: ARG002
        """Nothing to write."""
        return {}


@dataclass(frozen=True)
class NumericColumn(Column):
    """A column whose values are a number each.

    Attributes:
        median: of the training data, which stands in for what is missing.
        had_holes: whether the training data had missing values.
        has_indicator: whether a number of its own says that the value is missing.
    """

    median: float
    had_holes: bool
    has_indicator: bool
    # What follows the name of the feature that is the value itself.
    unit: ClassVar[str] = ""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The values' names, and that of the indicator."""
        indicator = (f"{self.name} is missing",) if self.has_indicator else ()
        return (*self.value_names, *indicator)

    @property
    def indicators(self) -> tuple[str, ...]:
        """The one that says whether the value is missing."""
        return self.feature_names[len(self.value_names) :]

    @property
    def value_names(self) -> tuple[str, ...]:
        """The names of the numbers that a value becomes."""
        return (f"{self.name}{self.unit}",)

    def fill(self, features: Features, source: Source) -> News:
        """Writes values and indicator."""
        values = self.read(source)
        missing = np.isnan(values)
        self.fill_values(features, np.where(missing, self.median, values))
        if self.has_indicator:
            features[:, -1] = missing
        count = int(np.count_nonzero(missing))
        return {None: count} if count and not self.had_holes else {}

    def is_unseen(self, source: Source) -> Bool[np.ndarray, " row"]:
        """Where a value is missing, if none was in training."""
        return np.isnan(self.read(source)) & (not self.had_holes)

    def read(self, source: Source) -> Rows:
        """The values, not a number where they are missing."""
        return source.numbers()

    def fill_values(self, features: Features, values: Rows) -> None:
        """Writes what values without holes become."""
        features[:, 0] = values

    @property
    def problem(self) -> str | None:
        """A median that is no number."""
        return None if math.isfinite(self.median) else "a column's median is not finite"


@dataclass(frozen=True)
class NumberColumn(NumericColumn):
    """Numbers, as they are; booleans are 0 and 1."""

    kind: ClassVar[str] = "number"
    needed: ClassVar[str] = "numbers"
    accepted: ClassVar[frozenset[str]] = frozenset({"number", "boolean", "missing"})


@dataclass(frozen=True)
class WrittenNumberColumn(NumericColumn):
    """Numbers as people write them, such as $1,234.50.

    Attributes:
        decimal: the mark before their decimals.
        sign: of the currency, or per cent, or nothing.
        is_guess: whether the commas could be before decimals too.
    """

    decimal: str
    sign: str
    is_guess: bool
    kind: ClassVar[str] = "written number"
    accepted: ClassVar[frozenset[str]] = frozenset({"number", "boolean", "missing"})

    @property
    def needed(self) -> str:  # type: ignore[override]
        """Numbers, with an example of how they are written."""
        example = "1,234.5" if self.decimal == "." else "1.234,5"
        return f"numbers such as {example}{self.sign}"

    @property
    def written(self) -> Written:
        """How they are written."""
        return Written(self.decimal, self.sign, self.is_guess)

    @property
    def problem(self) -> str | None:
        """A mark or a sign that numbers do not have."""
        known = self.decimal in {".", ","} and self.sign in {"", *"$€£%"}
        return super().problem if known else "a column's numbers are written in no known way"


@dataclass(frozen=True)
class BooleanColumn(NumberColumn):
    """Booleans, as 0 and 1."""

    kind: ClassVar[str] = "boolean"
    needed: ClassVar[str] = "booleans or numbers"

    @property
    def indicators(self) -> tuple[str, ...]:
        """All of them."""
        return self.feature_names


@dataclass(frozen=True)
class DurationColumn(NumericColumn):
    """Durations, in seconds."""

    kind: ClassVar[str] = "duration"
    needed: ClassVar[str] = "durations"
    accepted: ClassVar[frozenset[str]] = frozenset({"duration", "missing"})
    unit: ClassVar[str] = ": seconds"


@dataclass(frozen=True)
class TimeColumn(NumericColumn):
    """Times of the day, as a point on the circle: midnight is near to midnight."""

    kind: ClassVar[str] = "time"
    needed: ClassVar[str] = "times of the day"
    accepted: ClassVar[frozenset[str]] = frozenset({"time", "missing"})

    @property
    def value_names(self) -> tuple[str, ...]:
        """Sine and cosine."""
        return _cycle_names(self.name, "day")

    def fill_values(self, features: Features, values: Rows) -> None:
        """Writes sine and cosine."""
        features[:, 0], features[:, 1] = circle(values / 86_400, CYCLES["day"])


@dataclass(frozen=True)
class DateColumn(NumericColumn):
    """Dates, as days since 1970, and points on the circles of the year, the week and the day.

    Attributes:
        cycles: the circles that training goes all the way round, and on which it moves.
        time_zone: the zone on whose clock dates are read, for dates that have one.
        order: of year, month and day where training had dates as text, other than ISO's.
        order_is_guess: whether another order would have fitted as well.
    """

    cycles: tuple[str, ...]
    time_zone: str | None
    order: str | None = None
    order_is_guess: bool = False
    kind: ClassVar[str] = "date"
    accepted: ClassVar[frozenset[str]] = frozenset({"date", "missing"})
    unit: ClassVar[str] = ": days"

    @property
    def needed(self) -> str:  # type: ignore[override]
        """Dates, and in which order or whether with a zone."""
        if self.order is not None:
            return f"dates in the order {ORDERS[self.order]}"
        return f"dates {'without a' if self.time_zone is None else 'with a'} time zone"

    @property
    def value_names(self) -> tuple[str, ...]:
        """The days since 1970, then sine and cosine of each cycle."""
        of_cycles = (name for cycle in self.cycles for name in _cycle_names(self.name, cycle))
        return (*super().value_names, *of_cycles)

    def read(self, source: Source) -> Rows:
        """Days on the clock of the training data's zone."""
        return source.numbers(self.time_zone)

    def fill_values(self, features: Features, values: Rows) -> None:
        """Writes the days, then sine and cosine of each cycle."""
        features[:, 0] = values
        for i, cycle in enumerate(self.cycles):
            features[:, 2 * i + 1], features[:, 2 * i + 2] = circle(values, CYCLES[cycle])

    def accepts(self, source: Source) -> bool:
        """Dates, all with a zone or all without."""
        alike = (source.time_zone is None) == (self.time_zone is None)
        return super().accepts(source) and (alike or source.kind == "missing")

    @property
    def problem(self) -> str | None:
        """Cycles or a zone that are not known."""
        if self.cycles != tuple(cycle for cycle in CYCLES if cycle in self.cycles):
            return "a column's cycles are not some of the year, the week and the day"
        if self.time_zone is not None and known_zone(self.time_zone) != self.time_zone:
            return "a column's time zone is not known"
        if self.order not in {None, *PLACES}:
            return "a column's order of year, month and day is not known"
        return super().problem


@dataclass(frozen=True)
class CategoryColumn(Column):
    """Categories, each as an indicator of its own; missing is one of them.

    Attributes:
        categories: those with an indicator.
        rare: further ones that training had, if they are not too many to remember.
        remembers_all: whether the two hold every category that training had.
        has_other: whether what is neither missing nor one of `categories` has an indicator.
        had_holes: whether the training data had missing values.
        has_indicator: whether missing values have an indicator.
    """

    categories: tuple[str, ...]
    rare: tuple[str, ...]
    remembers_all: bool
    has_other: bool
    had_holes: bool
    has_indicator: bool
    kind: ClassVar[str] = "category"
    needed: ClassVar[str] = "text or categories"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """All of them are indicators."""
        return self.indicators

    @property
    def indicators(self) -> tuple[str, ...]:
        """A name for each."""
        names = [f"{self.name}={category}" for category in self.categories]
        names += [f"{self.name}: other"] if self.has_other else []
        names += [f"{self.name} is missing"] if self.has_indicator else []
        return tuple(names)

    @property
    def hint(self) -> str | None:
        """What many categories were perhaps meant as; plain numbers may well be names."""
        texts = (*self.categories, *self.rare)
        may_be_names = len(texts) <= MANY_CATEGORIES or are_plain_numbers(texts)
        return None if may_be_names else hint(texts)

    def accepts(self, source: Source) -> bool:
        """Text, or whole numbers as text."""
        return source.is_text

    def read(self, source: Source) -> list[str]:
        """The values as text, empty where they are missing."""
        if source.kind == "missing":
            return [""] * len(source.series)
        return [str(text) for text in source.texts().fill_null("").to_list()]

    def is_new(self, source: Source) -> Bool[np.ndarray, " row"]:
        """Which rows have a category that training did not have, as far as is remembered."""
        if source.kind == "missing" or not self.remembers_all:
            return np.zeros(len(source.series), bool)
        texts = source.texts()
        known = texts.is_in([*self.categories, *self.rare])
        return ~(known | texts.is_null()).to_numpy().astype(bool)

    def is_unseen(self, source: Source) -> Bool[np.ndarray, " row"]:
        """Where a category is new, or missing if none was in training."""
        missing = np.ones(len(source.series), bool)
        if source.kind != "missing":
            missing = source.texts().is_null().to_numpy().astype(bool)
        return self.is_new(source) | (missing & (not self.had_holes))

    @property
    def n_rare(self) -> int:
        """The number of rare categories."""
        return len(self.rare)

    def fill(self, features: Features, source: Source) -> News:
        """Writes the indicators; what training did not have is "other", or none of all."""
        n_known = len(self.categories)
        if source.kind == "missing":
            codes, missing = np.full(len(features), -1), np.ones(len(features), bool)
        else:
            texts = source.texts()
            missing = texts.is_null().to_numpy()
            codes = codes_of(texts, self.categories)
        for code in range(n_known):
            features[:, code] = codes == code
        other = (codes < 0) & ~missing
        if self.has_other:
            features[:, n_known] = other
        if self.has_indicator:
            features[:, -1] = missing
        news: News = {}
        if self.remembers_all and other.any():
            came, rare = counts_of(texts.filter(other.tolist())), set(self.rare)
            news |= {text: count for text, count in came.items() if text not in rare}
        if missing.any() and not self.had_holes:
            news[None] = int(np.count_nonzero(missing))
        return news

    @property
    def problem(self) -> str | None:
        """No categories, or one that is there twice."""
        known = (*self.categories, *self.rare)
        is_right = self.categories and len(set(known)) == len(known)
        return None if is_right else "a column has no categories, or one of them twice"


@dataclass(frozen=True)
class ManyCategoriesColumn(CategoryColumn):
    """More categories than indicators: also a number each, its mean target, drawn to that of all.

    Attributes:
        means: the number of each of `categories` and of `rare`, in this order.
        mean: the mean target, for what is missing and for what training did not have.
        prior: for how many rows of a category the mean of all counts.
    """

    means: tuple[float, ...]
    mean: float
    prior: float
    kind: ClassVar[str] = "many categories"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The indicators' names, and that of the number."""
        return (*super().feature_names, f"{self.name}: mean target")

    def codes(self, source: Source) -> Int[np.ndarray, " row"]:
        """The place of each row's category among `means`; -1 for none."""
        if source.kind == "missing":
            return np.full(len(source.series), -1)
        return codes_of(source.texts(), (*self.categories, *self.rare))

    def fill(self, features: Features, source: Source) -> News:
        """Writes the indicators, then the numbers."""
        features[:, -1] = np.append(self.means, self.mean)[self.codes(source)]
        return super().fill(features[:, :-1], source)

    @property
    def problem(self) -> str | None:
        """Numbers that are not those of the categories."""
        known = (*self.categories, *self.rare)
        finite = all(map(math.isfinite, (*self.means, self.mean, self.prior)))
        if len(set(known)) < len(known) or len(known) != len(self.means) or not finite:
            return "a column has not one finite number for each of its categories"
        return None if self.prior >= 0 else "a column's prior is negative"


@dataclass(frozen=True)
class WordsColumn(Column):
    """Text that is another in nearly every row, as an indicator for each of some words.

    Attributes:
        words: those with an indicator, in lower case.
        had_holes: whether the training data had missing values.
        has_indicator: whether missing values have an indicator.
    """

    words: tuple[str, ...]
    had_holes: bool
    has_indicator: bool
    kind: ClassVar[str] = "words"
    needed: ClassVar[str] = "text"

    @property
    def feature_names(self) -> tuple[str, ...]:
        """All of them are indicators."""
        return self.indicators

    @property
    def indicators(self) -> tuple[str, ...]:
        """A name for each."""
        missing = [f"{self.name} is missing"] if self.has_indicator else []
        return (*(f"{self.name} has {word!r}" for word in self.words), *missing)

    def accepts(self, source: Source) -> bool:
        """Text, or whole numbers as text."""
        return source.is_text

    def is_unseen(self, source: Source) -> Bool[np.ndarray, " row"]:
        """Where the text is missing, if none was in training; other words are nothing new."""
        return self._is_missing(source) & (not self.had_holes)

    def read(self, source: Source) -> dict[str, Rows]:
        """For each indicator by its name, whether it holds, as 0 and 1."""
        missing = self._is_missing(source)
        texts = [] if source.kind == "missing" else source.texts().fill_null("").to_list()
        places = {word: place for place, word in enumerate(self.words)}
        found = np.zeros((len(missing), len(self.indicators)))
        for row, text in enumerate(texts):
            found[row, [places[word] for word in words_of(text) if word in places]] = 1
        if self.has_indicator:
            found[:, -1] = missing
        return dict(zip(self.indicators, found.T, strict=True))

    def fill(self, features: Features, source: Source) -> News:
        """Writes the indicators."""
        features[:] = np.stack([*self.read(source).values()], axis=1)
        missing = self._is_missing(source)
        count = int(np.count_nonzero(missing))
        return {None: count} if count and not self.had_holes else {}

    def _is_missing(self, source: Source) -> Bool[np.ndarray, " row"]:
        if source.kind == "missing":
            return np.ones(len(source.series), bool)
        return source.texts().is_null().to_numpy().astype(bool)

    @property
    def problem(self) -> str | None:
        """No words, or one that is there twice."""
        is_right = self.words and len(set(self.words)) == len(self.words)
        return None if is_right else "a column has no words, or one of them twice"


KINDS: dict[str, type[Column]] = {
    column.kind: column
    for column in (
        NumberColumn,
        WrittenNumberColumn,
        BooleanColumn,
        DurationColumn,
        TimeColumn,
        DateColumn,
        CategoryColumn,
        ManyCategoriesColumn,
        WordsColumn,
        LeftOutColumn,
    )
}


def column_from_json(payload: Any) -> Column:
    """A column from a model file, checked."""
    kind = payload.get("kind") if isinstance(payload, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError("a column is of no known kind")
    facts = {name: value for name, value in payload.items() if name != "kind"}
    try:
        column = KINDS[kind](**checked_fields(KINDS[kind], facts))
    except ValueError as error:
        raise ValueError(f"a column of the encoder is damaged: {error}") from error
    if column.problem is not None:
        raise ValueError(column.problem)
    return column


def codes_of(texts: Any, known: tuple[str, ...]) -> Int[np.ndarray, " row"]:
    """The place of each text among those that are known; -1 for others and for missing ones."""
    if not known:
        return np.full(len(texts), -1)
    places = list(range(len(known)))
    codes = texts.replace_strict(known, places, default=-1, return_dtype=nw.Int64)
    return np.asarray(codes.to_numpy(), np.int64)


def counts_of(texts: Any) -> dict[str, int]:
    """How often each text stands in a column."""
    counted = texts.drop_nulls().alias("text").value_counts(name="count")
    return dict(zip(counted["text"].to_list(), counted["count"].to_list(), strict=True))


def circle(days: Rows, period: float) -> tuple[Rows, Rows]:
    """Sine and cosine of the place on a circle."""
    turn = 2 * np.pi * (days % period) / period
    return np.sin(turn), np.cos(turn)


def _cycle_names(name: str, cycle: str) -> tuple[str, str]:
    return f"{name}: {cycle} (sine)", f"{name}: {cycle} (cosine)"
