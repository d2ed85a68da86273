"""The page of evidence says what the tables say, and so do the documents that repeat it."""

import re

import evidence
import pytest
from evidence import CLAIMS, PAGE, ROOT, Results


def test_the_page_is_what_the_tables_say():
    assert PAGE.read_text() == evidence.page(), "run python tools/evidence.py --write"


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.page)
def test_documents_repeat_a_claim_in_its_words(claim):
    for name in claim.repeated:
        text = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", (ROOT / name).read_text())
        assert claim.sentence in " ".join(text.split())


TWO_TABLES = Results(
    """
Made at commit 1234abc.

| set | ratio |
| --- | ---: |
| a | 1.5 |

| name | ratio |
|---|---|
| mean | 3 ± 1 |
| b | **2.5 ± 1** |
"""
)


def test_a_number_is_found_by_its_row_and_column():
    assert TWO_TABLES.cell("a", "ratio") == "1.5"
    assert TWO_TABLES.cell("b", "ratio") == "2.5 ± 1"
    assert TWO_TABLES.found(r"Made at commit (\w+)") == ("1234abc",)


def test_what_is_not_there_is_an_error():
    with pytest.raises(KeyError, match="no table has a column 'ratio' with a row 'c'"):
        TWO_TABLES.cell("c", "ratio")
    with pytest.raises(KeyError, match="nothing is like"):
        TWO_TABLES.found("seconds")
