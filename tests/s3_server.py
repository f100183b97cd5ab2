"""An S3-compatible server in a process of its own: moto, which implements the protocol of S3 in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import boto3

from tests.processes import _answers, free_port, until

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "tests", "AWS_SECRET_ACCESS_KEY": "tests-secret"}
REGION = "eu-test-1"


@dataclass
class S3Server:
    """The server. It can be stopped, and started again on the same port and without its objects."""

    port: int
    process: Any = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def place(self, bucket: str) -> str:
        """The setting for a bucket."""
        return f"s3://{bucket}/files?endpoint={self.url}&region={REGION}"

    def client(self) -> Any:
        keys = {"aws_access_key_id": "tests", "aws_secret_access_key": "tests-secret"}
        return boto3.client("s3", endpoint_url=self.url, region_name=REGION, **keys)

    def make_bucket(self, bucket: str) -> None:
        self.client().create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})

    def objects(self, bucket: str) -> dict[str, bytes]:
        """The objects of a bucket by their names."""
        client = self.client()
        names = [one["Key"] for one in client.list_objects_v2(Bucket=bucket).get("Contents", [])]
        return {name: client.get_object(Bucket=bucket, Key=name)["Body"].read() for name in names}

    def start(self) -> None:
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        env = {**os.environ, "MOTO_S3_CUSTOM_ENDPOINTS": self.url}
        output = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env=env, **output)
        until(lambda: _answers(self.port), what="the port of the S3 server")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def s3_server() -> Iterator[S3Server]:
    server = S3Server(free_port())
    server.start()
    try:
        yield server
    finally:
        server.stop()
