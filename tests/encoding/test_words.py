"""Free text: the words in it that tell something about the target."""

import json
import unicodedata

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

import confide
from confide import BootstrappedDeepEnsembleRegressor, DeepEnsembleRegressor
from confide.document import render_page
from confide.encoding import Encoder
from confide.encoding.target_means import LARGEST_P
from confide.encoding.words import common_words, telling_words, untold, words_of
from confide.errors import LeftOutColumnWarning, UnseenValueWarning
from confide.export import model_parts
from confide.inspection import effects
from confide.tables import TableFile
from confide.workflow import as_meant, fit_table, page_document, page_inputs
from confide.workflow.describe import described
from confide.workflow.predict import arrow_types, encoded

pytestmark = pytest.mark.usefixtures("without_type_checker")
LIBRARIES = [pd.DataFrame, pl.DataFrame, pa.table]
WORDS = ["quiet", "garden", "near", "old", "view", "bright"]


def telling(texts, rest, *, fewest, most):
    return telling_words(common_words(texts, fewest), len(texts), rest, most)


def flats(n_rows=200, effect=4.0, seed=0):
    """Rows with a remark, in which a garden matters, and a size that matters more."""
    generator = np.random.default_rng(seed)
    has = generator.random((n_rows, len(WORDS))) < 0.4
    remarks = [
        " ".join([f"No. {i}:", *(word for word, there in zip(WORDS, row, strict=True) if there)])
        for i, row in enumerate(has)
    ]
    size = generator.uniform(0, 100, n_rows)
    y = size + effect * has[:, WORDS.index("garden")] + generator.normal(0, 1, n_rows)
    return {"remark": remarks, "size": size}, y, has


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_word_that_tells_becomes_an_indicator(library):
    table, y, has = flats()
    encoder = Encoder.fit(library(table), y)
    assert encoder.columns[0].kind == "words"
    assert encoder.feature_names == ("remark has 'garden'", "size")
    assert np.array_equal(encoder.encode(library(table))[:, 0], has[:, 1])
    new = {"remark": ["GARDEN!", "gardens", None, "a large garden."], "size": [0.0] * 4}
    assert encoder.encode(library(new))[:, 0].tolist() == [1, 0, 0, 1]
    assert encoder.unseen(library(new)) == {"remark": {None: 1}}
    assert encoder.unseen_rows(library(new), ["remark"])["remark"].tolist() == [0, 0, 1, 0]
    nothing = library({"remark": [None, None], "size": [0.0, 0.0]})
    assert encoder.encode(nothing)[:, 0].tolist() == [0, 0]
    numbers = library({"remark": [1.5, 2.5], "size": [0.0, 0.0]})
    with pytest.raises(ValueError, match=r"remark needs text, got"):
        encoder.encode(numbers)


def test_what_other_columns_tell_hides_no_word():
    table, y, _ = flats()
    assert telling(table["remark"], y, fewest=5, most=9) == []
    rest = untold(np.array(table["size"])[:, None], y)
    assert telling(table["remark"], rest, fewest=5, most=9) == ["garden"]


def test_the_strength_of_a_word_is_that_of_a_rank_test():
    generator = np.random.default_rng(2)
    has, y = generator.random(60) < 0.5, generator.normal(size=60)
    texts = ["word" if there else "" for there in has]
    # Of one word, the level is that of a single test: its own p-value decides.
    p = stats.mannwhitneyu(y[has], y[~has], use_continuity=False, method="asymptotic").pvalue
    shift = 0.0
    while p > LARGEST_P:
        assert telling(texts, y + shift * has, fewest=5, most=9) == []
        shift += 0.05
        moved = y + shift * has
        p = stats.mannwhitneyu(
            moved[has], moved[~has], use_continuity=False, method="asymptotic"
        ).pvalue
    assert shift > 0
    assert telling(texts, y + shift * has, fewest=5, most=9) == ["word"]


def test_words_are_rarely_chosen_by_chance():
    found, n_trials = 0, 400
    for seed in range(n_trials):
        generator = np.random.default_rng(seed)
        words = [2 * letter for letter in "abcdefghij"]
        texts = [" ".join(generator.choice(words, 4)) for _ in range(60)]
        found += bool(telling(texts, generator.normal(size=60), fewest=5, most=9))
    assert found <= stats.binom.ppf(1 - 1e-6, n_trials, LARGEST_P)


def test_common_words_first_and_no_more_than_asked_for():
    texts = ["aa bb", "aa", "aa bb cc", "cc aa", "bb", "bb aa dd"]
    assert telling(texts, None, fewest=1, most=2) == ["aa", "bb"]
    assert telling(texts, None, fewest=2, most=9) == ["bb", "cc"]


def test_words_are_letters_in_any_script():
    assert words_of("Größe: 12m, STRASSE a ÉTÉ_2") == {"grösse", "strasse", "été"}


def test_text_of_no_use_is_left_out_and_told(small):
    table, y, _ = flats(effect=0.0)
    with pytest.warns(
        LeftOutColumnWarning, match="no word in it tells enough about the target"
    ) as told:
        DeepEnsembleRegressor(**small).fit(pd.DataFrame(table), y)
    assert not any("they may say" in str(warning.message) for warning in told)


def test_a_table_of_text_alone_is_learnt_from(small):
    table, y, _ = flats(effect=300.0)
    rows = pa.table({"remark": table["remark"], "price": y})
    found = fit_table(rows, "price", DeepEnsembleRegressor(**small))
    assert found.model.encoder_.feature_names == ("remark has 'garden'",)


def test_holes_have_an_indicator():
    table, y, _ = flats()
    table["remark"][:20] = [None] * 20
    frame = pd.DataFrame(table)
    encoder = Encoder.fit(frame, y)
    assert encoder.feature_names == ("remark has 'garden'", "remark is missing", "size")
    assert encoder.encode(frame)[:, 1].tolist() == [1] * 20 + [0] * 180
    assert encoder.unseen(frame) == {}
    assert encoder.encode(pd.DataFrame({"remark": ["", None], "size": 0.0}))[:, 1].tolist() == [
        0,
        1,
    ]


def test_saved_is_live_and_a_damaged_file_is_refused(tmp_path, small):
    table, y, _ = flats()
    frame = pd.DataFrame(table)
    model = DeepEnsembleRegressor(**small).fit(frame, y)
    model.save(tmp_path / "model.confide")
    again = confide.load(tmp_path / "model.confide")
    assert np.array_equal(again.predict(frame), model.predict(frame))
    with pytest.warns(UnseenValueWarning, match="remark"):
        again.predict(frame.assign(remark=None))
    payload = json.loads(json.dumps(model.encoder_.to_file()[0]))
    for words in ([], ["garden", "garden"]):
        payload["columns"][0]["words"] = words
        with pytest.raises(ValueError, match="no words, or one of them twice"):
            Encoder.from_file(payload, {})


def test_texts_that_are_numbers_stay_text_in_a_file(tmp_path, small):
    table, y, _ = flats()
    found = fit_table(pa.table({**table, "price": y}), "price", DeepEnsembleRegressor(**small))
    path = tmp_path / "new.csv"
    path.write_text("remark,size\n12,50\n13,60\n")
    assert arrow_types(found.model, TableFile(path))["remark"] == pa.string()


def test_the_curve_of_a_text_is_drawn_at_its_words(small):
    table, y, _ = flats(effect=300.0)
    table["remark"][:20] = [None] * 20
    frame = pd.DataFrame(table)
    model = DeepEnsembleRegressor(**small).fit(frame, y)
    seen = effects(model, frame, y)
    assert set(seen.importance.index) == {"remark", "size"}
    curve = seen.curves["remark"]
    assert list(curve["value"]) == ["(none)", "garden", "(missing)"]
    for text, mean in zip(["old", "a garden", None], curve["mean"], strict=True):
        asked = frame.assign(remark=text)
        assert model.predict(asked).mean() == pytest.approx(mean, rel=0.05)
    exact = effects(model, frame, y, max_rows=len(frame)).curves["remark"]["mean"]
    assert model.predict(frame.assign(remark="garden")).mean() == pytest.approx(exact[1], rel=1e-6)


def test_a_page_of_a_table_of_text_alone(small, tmp_path):
    table, y, _ = flats(effect=300.0)
    rows = pa.table({"remark": table["remark"], "price": y})
    model = fit_table(rows, "price", DeepEnsembleRegressor(**small)).model
    page = render_page(page_document(page_inputs(model, rows, confidence_level=0.9)))
    assert "(none)" in page
    assert described(model).columns == [{"name": "remark", "kind": "words", "words": "garden"}]
    assert "  remark  words: garden" in described(model).lines


def test_equal_numbers_of_a_table_and_of_its_indicators(small):
    table, y, has = flats()
    text = DeepEnsembleRegressor(**small).fit(pd.DataFrame(table), y)
    garden = np.where(has[:, 1], "yes", "no")
    own = pd.DataFrame({"garden": has[:, 1], "size": table["size"]})
    plain = DeepEnsembleRegressor(**small).fit(own, y)
    assert len(garden) == len(own)
    assert np.array_equal(encoded(text, pa.table(table)).matrix, own.to_numpy(float))
    assert np.array_equal(text.predict(pd.DataFrame(table)), plain.predict(own))


@pytest.mark.parametrize("filler", ["none", "-", "", "n/a"])
def test_fillers_do_not_make_categories_of_a_text(filler):
    table, y, has = flats(400)
    for row in range(0, 400, 3):
        table["remark"][row], has[row] = filler, False
        y[row] -= 4.0 * has[row, 1]
    y = np.array(table["size"]) + 4.0 * has[:, 1]
    for library in LIBRARIES:
        encoder = Encoder.fit(library(table), y)
        assert encoder.columns[0].kind == "words"
        assert "remark has 'garden'" in encoder.feature_names


def test_a_text_that_often_repeats_is_looked_at_before_it_is_left_out():
    table, y, _ = flats(600)
    for row in range(0, 150, 2):  # a quarter of the rows in pairs, of no common value
        table["remark"][row + 1] = table["remark"][row]
        y[row + 1] = y[row] - table["size"][row] + table["size"][row + 1]
    encoder = Encoder.fit(pd.DataFrame(table), y)
    assert "remark has 'garden'" in encoder.feature_names


@pytest.mark.parametrize("dtype", ["category", None])
def test_what_is_called_categories_has_no_words(dtype):
    table, y, _ = flats()
    frame = pd.DataFrame(table)
    given = frame if dtype is None else frame.astype({"remark": dtype})
    given = as_meant(pa.table(table), categorical=["remark"]) if dtype is None else given
    assert Encoder.fit(given, y).columns[0].kind == "left out"


def test_targets_are_paired_with_rows_by_place():
    table, y, _ = flats()
    order = np.random.default_rng(0).permutation(len(y))
    frame = pd.DataFrame(table).iloc[order]
    for targets in (pd.Series(y)[order], y[order].tolist(), y[order] * 1e150, y[order] * 1e-300):
        assert Encoder.fit(frame, targets).feature_names == ("remark has 'garden'", "size")


def test_two_features_of_one_name_are_refused():
    table, y, _ = flats()
    with pytest.raises(ValueError, match=r"under the same name: \"remark has 'garden'\". Rename"):
        Encoder.fit(pd.DataFrame({**table, "remark has 'garden'": y}), y)


def test_words_have_their_marks_however_these_are_written():
    composed, apart = (unicodedata.normalize(form, "un JARDÍN") for form in ("NFC", "NFD"))
    assert words_of(composed) == words_of(apart) == {"un", "jardín"}
    assert words_of("बगीचा, बगल") == {"बगीचा", "बगल"}


def test_a_column_without_a_value_may_have_any_type():
    table, y, _ = flats()
    encoder = Encoder.fit(pd.DataFrame(table), y)
    empty = pd.DataFrame({"remark": [np.nan, np.nan], "size": [1.0, 2.0]})
    assert encoder.encode(empty).tolist() == [[0, 1], [0, 2]]
    colours = Encoder.fit(pd.DataFrame({"colour": ["red", "blue", None] * 9, "size": range(27)}))
    assert colours.encode(empty.rename(columns={"remark": "colour"}))[0].tolist() == [0, 0, 1]


def test_the_plain_form_of_a_model_has_a_yes_or_no_for_each_word(small):
    table, y, has = flats(effect=30.0)
    y = y - 30.0 * has[:, 3]
    table["remark"][:20], has[:20] = [None] * 20, False
    model = BootstrappedDeepEnsembleRegressor(**small).fit(pd.DataFrame(table), y)
    parts, known = model_parts(model), encoded(model, pa.table(table))
    names = [column["name"] for column in parts.description["columns"]]
    assert names == ["remark has 'garden'", "remark has 'old'", "remark is missing", "size"]
    values = np.array(parts.values(known, np.arange(200)))
    assert np.array_equal(values[:, :2], has[:, [1, 3]])
    assert np.array_equal(values[:, 2], np.arange(200) < 20)
    plain = model.encoder_.plain_values(pa.table(table))
    assert np.array_equal(np.stack([plain[name] for name in names], axis=1), values)
