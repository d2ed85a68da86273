"""The paper's path, bit for bit: numbers of all five methods as version 0.1 had them."""

import json

import numpy as np
import pytest
from golden import paper

GOLDEN = json.loads(paper.FILE.read_text())
# Another processor rounds otherwise; over six epochs that stays below a thousandth of the targets.
ELSEWHERE = 1e-3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::confide.errors.CalibrationWarning")
@pytest.mark.parametrize("case", paper.ALL)
def test_the_papers_numbers_are_those_of_version_0_1(case):
    found, expected = paper.numbers(case), GOLDEN["numbers"][case]
    assert found.keys() == expected.keys()
    for name, array in found.items():
        if paper.machine() == GOLDEN["machine"]:
            np.testing.assert_array_equal(array.ravel(), expected[name], err_msg=name)
        else:
            np.testing.assert_allclose(array.ravel(), expected[name], rtol=0, atol=ELSEWHERE)
