"""A bucket as a storage, by django-storages and boto3. Imported when an object is needed, because it is large."""

from __future__ import annotations

from typing import Any, ClassVar

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from storages.backends.s3 import S3Storage

from conversations.files.listed import PAGE, ListedObject, Pages

CONNECT_SECONDS = 3
# The longest silence of a storage.
READ_SECONDS = 10
TRIES = 2
# No file is as large, so that each is written in one request and an interrupted one leaves no parts behind.
ONE_REQUEST = 64 * 1024 * 1024


class Bucket(S3Storage):  # type: ignore[misc]  # untyped
    """The storage of django-storages, whose credentials are those that boto3 finds: variables, a profile or a role."""

    errors: ClassVar[tuple[type[Exception], ...]] = (OSError, Boto3Error, BotoCoreError, ClientError)

    def __init__(self, *, endpoint_url: str | None = None, **options: Any) -> None:
        keys = {"access_key": None, "secret_key": None, "security_token": None}
        super().__init__(
            endpoint_url=endpoint_url,
            file_overwrite=True,
            client_config=_client_config(endpoint_url),
            transfer_config=TransferConfig(multipart_threshold=ONE_REQUEST, use_threads=False),
            **{**keys, "session_profile": None, **options},
        )

    def content(self, name: str) -> bytes:
        """The object's content. Raises FileNotFoundError, and one of `errors` if the server doesn't give it."""
        try:
            return bytes(self._object(name).get()["Body"].read())
        except ClientError as error:
            if error.response["Error"]["Code"] == "NoSuchKey":
                raise FileNotFoundError(name) from None
            raise

    def delete(self, name: str) -> None:
        """Delete the object, if it exists. Unlike the base class, it fails if there is no bucket."""
        self._object(name).delete()

    def pages(self) -> Pages:
        """All objects, in pages."""
        below = f"{self.location}/" if self.location else ""
        for page in self.bucket.objects.filter(Prefix=below).page_size(PAGE).pages():
            yield [ListedObject(one.key.removeprefix(below), one.size, one.last_modified) for one in page]

    def _object(self, name: str) -> Any:
        return self.bucket.Object(self._normalize_name(name))


def _client_config(endpoint_url: str | None) -> Config:
    """Compatible servers have no host name for each bucket, and not all of them know the newer checksums."""
    return Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": TRIES},
        signature_version="s3v4",
        s3={"addressing_style": "path" if endpoint_url else "auto"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
