"""What every test can use: `--update`, the check that claims are known, and that every graph which is traced is well formed.

No example of a property has a bound on its time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from sexpgpu import analysis
from sexpgpu.graph.verify import verify

pytest.register_assert_rewrite("support")

from support.claims import CLAIMS, proofs  # noqa: E402

settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="draw fixtures, goldens and generated pages anew instead of comparing")


@pytest.fixture(scope="session", autouse=True)
def _verified() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Every graph of every analysis in this process is verified right after it was traced."""
    assemble = analysis.assemble

    def assembled(*arguments: Any) -> Any:
        builder = assemble(*arguments)
        for graph in builder.program.graphs.values():
            verify(graph)
        return builder

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "assemble", assembled)
        yield


@pytest.fixture(scope="session")
def update(request: pytest.FixtureRequest) -> bool:
    """Whether to write what is compared otherwise."""
    return bool(request.config.getoption("--update"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every claim that a test makes is in the table, and the scan that `docs/conformance.md` is made from sees it."""
    known = proofs()
    for item in items:
        for claim in (claim for marker in item.iter_markers("claim") for claim in marker.args):
            if claim not in CLAIMS:
                raise pytest.UsageError(f"{item.nodeid} claims {claim}, which tests/support/claims.py does not have")
            if claim not in known:
                raise pytest.UsageError(f"{item.nodeid} claims {claim} in a way that tests/support/claims.py cannot read")
