"""The greatest of many: what sorting finds, among equals the first ones."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from klss.support.greatest import greatest

NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, 1e-300, -1.0, np.inf, -np.inf, 5e-324]), st.floats(allow_nan=False, width=64)
)


@given(st.lists(NUMBERS, max_size=40), st.integers(-2, 45))
def test_they_are_those_that_sorting_puts_first(numbers: list[float], count: int) -> None:
    values = np.array(numbers, dtype=np.float64)
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))
    assert greatest(values, count).tolist() == sorted(order[: max(0, count)])
