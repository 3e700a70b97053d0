"""What all tests of widgets share: only what a test looks at is drawn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.pilots import without_frames


@pytest.fixture(autouse=True)
def frames(request: pytest.FixtureRequest) -> Iterator[None]:
    """Leave out the frames in between, but where a test asks for them with `frames`."""
    if request.node.get_closest_marker("frames"):
        yield
    else:
        with without_frames():
            yield
