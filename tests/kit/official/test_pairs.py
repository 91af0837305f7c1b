"""Our connection and the official one understand each other, over stdio between real processes."""

from __future__ import annotations

import pytest

from tests.kit.official.running import Kind, run_client

pytestmark = pytest.mark.test_all


@pytest.mark.parametrize(("client", "agent"), [("ours", "official"), ("official", "ours"), ("ours", "ours")])
def test_a_pair_shows_what_two_official_connections_show(client: Kind, agent: Kind) -> None:
    assert run_client(client, agent, "everything") == run_client("official", "official", "everything")
