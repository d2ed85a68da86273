"""What tests of encoding share: a table with every kind of column, and refusals by their words."""

import datetime as dt
import re

import numpy as np
import pytest

START = dt.datetime(2021, 5, 1, 5)  # noqa: DTZ001


def refused(*parts):
    """A refusal whose message has these parts, in their order."""
    return pytest.raises(ValueError, match="(?s)" + ".*".join(map(re.escape, parts)))


def mixed(n_rows=60):
    """Every kind of column, all with holes, as lists."""
    generator = np.random.default_rng(1)
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=17 * i) for i in range(n_rows)]
    full = {
        "size": generator.normal(size=n_rows).tolist(),
        "town": generator.choice(["Rome", "Oslo", "Bonn"], n_rows).tolist(),
        "rainy": (generator.random(n_rows) < 0.5).tolist(),
        "day": days,
        "at": [START + dt.timedelta(hours=7 * i, microseconds=i) for i in range(n_rows)],
        "hour": [dt.time(i % 24, i, 30, 5) for i in range(n_rows)],
        "span": [dt.timedelta(minutes=i, milliseconds=5) for i in range(n_rows)],
    }
    return {
        name: [None if generator.random() < 0.2 else value for value in values]
        for name, values in full.items()
    }
