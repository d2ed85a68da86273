"""Addresses of Ray clusters where there is none."""

import socket

import pytest
from click.testing import CliRunner
from support.calls import scaled

from confide.cli import main
from confide.engines import ClusterError, RayCluster

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'confide[ray]'")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere.invalid:6379", "nonsense"])
def test_an_address_without_a_cluster_is_refused_with_what_to_do(address):
    with pytest.raises(ClusterError, match=rf"{address}.*Start one with `ray start --head`"):
        list(RayCluster(address).map(scaled, [1], (2,)))


@pytest.mark.parametrize(
    "address", ["127.0.0.1:²", "..:6379", f"{'a' * 70}:6379", "127.0.0.1:99999", "a\0b:6379"]
)
def test_what_can_be_no_address_is_refused_with_what_to_do(address):
    with pytest.raises(ClusterError, match=r"must be host:port or auto, got .* Start one with"):
        list(RayCluster(address).map(scaled, [1], (2,)))


@pytest.mark.slow
def test_a_server_that_is_not_ray_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"No Ray cluster answers at {address}"):
            list(RayCluster(address).map(scaled, [1], (2,)))


@pytest.mark.parametrize("command", ["fit", "check"])
def test_a_wrong_address_is_a_line_of_the_command(command, tmp_path):
    rows = [f"{i % 7},{i % 3}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *rows]))
    arguments = [command, str(tmp_path / "t.csv"), "-t", "y", "--engine", "ray"]
    result = CliRunner().invoke(main, [*arguments, "--address", "127.0.0.1:1"])
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: No Ray cluster answers at 127.0.0.1:1. Start one")
