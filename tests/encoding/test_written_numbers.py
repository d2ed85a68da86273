"""Text that is numbers as people write them: what is read, and what is not."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from confide.encoding import Encoder
from confide.encoding.amounts import how_written
from confide.estimators import DeepEnsembleRegressor
from confide.workflow import fit_table, prediction_blocks

WRITTEN = {
    "area": ["1,234", "560", "12,000.5"],
    "fee": ["$1,234.00", "$-7.50", "-$12"],
    "cost": ["€ 1.234,50", "€ 7", "€ 0,5"],
    "tax": ["7%", "12.5 %", "0%"],
}
READ = {"area": [1234, 560, 12000.5], "fee": [1234, -7.5, -12], "cost": [1234.5, 7, 0.5]}
READ |= {"tax": [7, 12.5, 0]}


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("library", [pd.DataFrame, pa.table])
def test_numbers_as_people_write_them_are_numbers(name, library):
    encoder = Encoder.fit(library({name: WRITTEN[name] * 4}))
    np.testing.assert_array_equal(encoder.encode(library({name: WRITTEN[name]}))[:, 0], READ[name])
    again = Encoder.from_file(*encoder.to_file())
    plain = library({name: [float(value) for value in READ[name]]})
    np.testing.assert_array_equal(again.encode(plain)[:, 0], READ[name])


@pytest.mark.parametrize(
    "texts",
    [
        ["1234", "7.5"],  # programs read those
        ["00123", "01,234"],  # codes
        ["$1", "€2"],
        ["7%", "0.07"],
        ["$1.234"],  # one, or a thousand
        ["192.168.100", "1.2.3"],
        ["1,234", "soon"],
        ["1,2,3"],
    ],
)
def test_other_text_stays_text(texts):
    assert how_written(texts) is None


def test_what_is_not_written_so_is_refused_by_its_text():
    encoder = Encoder.fit(pd.DataFrame({"fee": WRITTEN["fee"] * 4}))
    with pytest.raises(ValueError, match=r"fee needs numbers such as 1,234.5\$, got .* '€5'"):
        encoder.encode(pd.DataFrame({"fee": ["$1", "€5"]}))


@pytest.fixture
def visits():
    generator = np.random.default_rng(0)
    area = generator.uniform(500, 9000, 120)
    fees = [f"{v:.2f}$" if v < 90 else f"about {v:.0f}" for v in generator.uniform(0, 100, 120)]
    y = area * 2 + generator.normal(0, 100, 120)
    return pa.table({"area": [f"{v:,.0f}" for v in area], "fee": fees, "price": y})


def test_fit_and_predict_read_them_and_columns_that_may_tell_are_warned_of(small, visits):
    found = fit_table(visits, "price", DeepEnsembleRegressor(**small))
    assert any(w.startswith("Left out of the fit, though they may say") for w in found.warnings)
    assert any(n.startswith("The commas in these numbers are read as sep") for n in found.notes)
    assert not any("fee (" in note or "You need not" in note for note in found.notes)
    assert found.model.encoder_.feature_names == ("area",)
    new = visits.drop_columns(["price"])
    (predicted,) = prediction_blocks(found.model, [new])
    plain = new.set_column(
        0, "area", pa.array([float(v.replace(",", "")) for v in new[0].to_pylist()])
    )
    (of_plain,) = prediction_blocks(found.model, [plain])
    assert predicted.equals(of_plain)
