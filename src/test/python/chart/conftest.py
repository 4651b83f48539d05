"""The chart with each combination of values. Without helm on the PATH these tests are left out."""

import pytest
from helm_chart import COMBINATIONS, render


@pytest.fixture(params=COMBINATIONS)
def rendered(request):
    """The chart with each of the combinations."""
    return render(COMBINATIONS[request.param])
