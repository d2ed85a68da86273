"""An S3 on this machine, by a server that plays Amazon's."""

from contextlib import contextmanager

import pyarrow.fs
import pyarrow.parquet as pq
import pytest


@contextmanager
def bucket(name):
    """The file system of a fresh bucket of that name, which addresses such as s3://name reach."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed: pip install moto")
    server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "anyone")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "anything")
        system, _ = pyarrow.fs.FileSystem.from_uri(f"s3://{name}?allow_bucket_creation=true")
        system.create_dir(name)
        try:
            yield system
        finally:
            server.stop()


def write(system, path, table):
    """Writes a Parquet file."""
    with system.open_output_stream(path) as file:
        pq.write_table(table, file)
