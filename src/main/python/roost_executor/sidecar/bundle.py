"""The files of a project (a bundle): fetched from the control plane before the first execution of an executor.

They come in parts of packs, files of the storage of files that hold the contents one after another. Only the parts that
have needed bytes are fetched, one at a time.
"""

import contextlib
import errno
import hashlib
import json
import os
import stat
import threading
import time
from typing import Any, BinaryIO, Callable

from roost_executor.files import remove_tree
from roost_executor.sidecar.heartbeat import Heartbeat
from roost_executor.sidecar.link import Address, Link, Pause, Response
from roost_executor.sidecar.outages import OutageLog

PART_BYTES = 4 * 1024 * 1024
COPY_BYTES = 256 * 1024
RESPONSE_SECONDS = 30.0
CHECK_SECONDS = 1.0
REFUSED = (401, 403)
LOST = (404, 410)
MOST_PATH_BYTES = 1024
MOST_NAME_BYTES = 255
MOST_SEGMENTS = 32
ADVICE = "Deploy the project again"


class Unfinished(Exception):  # noqa: N818
    """The files can't be had; `fields` are those of the execution's only frame, None if nobody wants it."""

    def __init__(self, fields: "dict[str, Any] | None") -> None:
        super().__init__()
        self.fields = fields


class Refused(Exception):  # noqa: N818
    """The control plane has refused this executor."""


def failed(reason: str, message: "str | None", state: str = "failed") -> "dict[str, Any]":
    """The fields of a `failed` frame; a `message` of None leaves the cause to the control plane."""
    return {"type": "failed", "state": state, "reason": reason, "message": message, "error": None}


def lost(cause: str) -> Unfinished:
    """The bytes aren't there any more, or aren't those that were deployed."""
    return Unfinished(failed("bundle_lost", f"the files of the project are lost: {cause}. {ADVICE}"))


class BundleFetch:
    """Fetches one bundle for one execution, whose lease it keeps meanwhile."""

    def __init__(
        self,
        address: Address,
        executor_id: str,
        outages: OutageLog,
        directory: str,
        work: "dict[str, Any]",
        check: "Callable[[], None]",
    ) -> None:
        """`directory`: for the directory of the files. `check`: called about once a second, may raise."""
        self._path = f"/internal/v1/executors/{executor_id}/bundle"
        self._address = address
        self._outages = outages
        self._directory = directory
        self._id: str = work["agent"]["bundle"]["id"]
        self._work = work
        self._check = check
        self._link = Link(address)
        self._pause = Pause()
        self._stopped = threading.Event()
        self._stop_fields: dict[str, Any] | None = None
        self._deadline = time.monotonic() + work["timeout_seconds"]
        self._part: tuple[tuple[int, int], bytes | bytearray] = ((-1, -1), b"")

    def run(self) -> str:
        """Returns the directory of the files. Raises Unfinished, Refused, and what `check` raises."""
        name = _checked_name(self._id)
        target = os.path.join(self._directory, name)
        if os.path.isdir(target):
            return target  # of the sidecar before this one
        heartbeat = Heartbeat(self._address, self._work["execution_id"], self._cancel, self._drop)
        draft = os.path.join(self._directory, f".{os.urandom(8).hex()}.new")
        try:
            os.makedirs(self._directory, exist_ok=True)
            os.mkdir(draft, 0o700)
            try:
                self._write(draft)
                os.rename(draft, target)
            except BaseException:
                remove_tree(draft)
                raise
        except (ValueError, KeyError, TypeError) as error:
            raise lost(f"what the control plane says of them can't be read ({error})") from None
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise Unfinished(
                    failed("out_of_disk", f"there is no space for the files of the project: {error}")
                ) from None
            raise Unfinished(
                failed("executor_lost", f"the files of the project can't be written: {error}", "lost")
            ) from None
        finally:
            heartbeat.stop()
            self._link.close()
        return target

    def terminate(self, deadline: float) -> None:
        """In a signal handler: SIGTERM has reached the pod."""
        self._stop(failed("executor_lost", None, "lost"))

    def _cancel(self) -> None:
        self._stop(failed("cancelled", "the execution was cancelled", "cancelled"))

    def _drop(self) -> None:
        self._stop(None)

    def _stop(self, fields: "dict[str, Any] | None") -> None:
        if not self._stopped.is_set():
            self._stop_fields = fields
            self._stopped.set()
            self._link.interrupt()

    def _write(self, root: str) -> None:
        manifest = json.loads(self._fetch({"bundle_id": self._id}).body)
        packs, files = manifest["packs"], manifest["files"]
        for file in files:
            _check_path(file["path"])
        top = os.fsencode(root)
        directories: set[bytes] = {top}
        # In the order of their bytes, so that no part is fetched twice.
        files.sort(key=lambda file: (file["pack"] or 0, file["offset"] or 0) if file["size_bytes"] else (-1, 0))
        last: tuple[Any, bytes] = (None, b"")
        for file in files:
            path = os.path.join(top, file["path"].encode())
            _make_directories(os.path.dirname(path), directories)
            place = (file["pack"], file["offset"], file["size_bytes"], file["sha256"])
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as output:
                if place == last[0]:
                    _copy(last[1], output)
                else:
                    self._write_file(file, packs, output)
                os.fchmod(output.fileno(), 0o555 if file["executable"] else 0o444)
            last = (place, path)
        for directory in directories:
            os.chmod(directory, 0o555)

    def _write_file(self, file: "dict[str, Any]", packs: "list[int]", output: BinaryIO) -> None:
        digest = hashlib.sha256()
        position, left = file["offset"], file["size_bytes"]
        while left:
            part = self._part_of(file["pack"], position // PART_BYTES, packs)
            begin = position % PART_BYTES
            with memoryview(part)[begin : begin + left] as piece:
                if not piece:
                    raise lost(f"the pack of {file['path']} is too short")
                digest.update(piece)
                output.write(piece)
                position += len(piece)
                left -= len(piece)
        if digest.hexdigest() != file["sha256"]:
            raise lost(f"what came for {file['path']} has another digest")

    def _part_of(self, pack: int, part: int, packs: "list[int]") -> "bytes | bytearray":
        if self._part[0] != (pack, part):
            self._part = ((-1, -1), b"")  # not two of them in memory
            body = self._fetch({"bundle_id": self._id, "pack": pack, "part": part}).body
            expected = min(PART_BYTES, packs[pack] - part * PART_BYTES) if 0 <= pack < len(packs) else 0
            if len(body) != expected:
                raise lost(f"part {part} of pack {pack} has {len(body)} bytes instead of {expected}")
            self._part = ((pack, part), body)
        return self._part[1]

    def _fetch(self, request: "dict[str, Any]") -> Response:
        """The response with status 200, repeated until it comes."""
        body = json.dumps(request).encode()
        while True:
            self._check_end()
            left = max(0.1, self._deadline - time.monotonic())
            cause: object
            try:
                response = self._link.call(self._path, body, "application/json", min(RESPONSE_SECONDS, left))
            except self._address.errors as error:
                self._link.close()
                cause = error
            else:
                if response.status == 200:
                    self._outages.succeeded()
                    self._pause.reset()
                    return response
                if response.status in LOST:
                    raise lost("the storage of files doesn't have them any more")
                if response.status in REFUSED:
                    raise Refused
                cause = response
            self._check_end()
            self._outages.failed(cause)
            self._wait(self._pause.next())

    def _wait(self, seconds: float) -> None:
        end = min(time.monotonic() + seconds, self._deadline)
        while (left := end - time.monotonic()) > 0 and not self._stopped.wait(min(left, CHECK_SECONDS)):
            self._check()

    def _check_end(self) -> None:
        self._check()
        if self._stopped.is_set():
            raise Unfinished(self._stop_fields)
        if time.monotonic() >= self._deadline:
            seconds = self._work["timeout_seconds"]
            message = f"the files of the project did not arrive within the timeout of {seconds:g} s"
            raise Unfinished(failed("deadline_exceeded", message, "timed_out"))


def _checked_name(name: str) -> str:
    if not name.replace("_", "").isalnum() or not name.isascii():
        raise lost("the bundle's identifier is none")
    return name


def _check_path(path: str) -> None:
    """Raises Unfinished for a path that isn't below the directory, whoever has written it."""
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        encoded = b""
    segments = encoded.split(b"/")
    if (
        not 0 < len(encoded) <= MOST_PATH_BYTES
        or len(segments) > MOST_SEGMENTS
        or b"\\" in encoded
        or any(byte < 32 or byte == 127 for byte in encoded)
        or any(segment in (b"", b".", b"..") or len(segment) > MOST_NAME_BYTES for segment in segments)
    ):
        raise lost(f"the path {path[:100]!r} is invalid")


def _make_directories(directory: bytes, known: "set[bytes]") -> None:
    if directory not in known:
        _make_directories(os.path.dirname(directory), known)
        os.mkdir(directory, 0o700)
        known.add(directory)


def _copy(source: bytes, output: BinaryIO) -> None:
    """Contents of files that are the same are in a pack once."""
    with open(source, "rb") as file:
        while piece := file.read(COPY_BYTES):
            output.write(piece)


def check_script(root: str, path: str) -> None:
    """Raises Unfinished unless `path` names a file of the bundle in `root`."""
    _check_path(path)
    with contextlib.suppress(OSError):
        if stat.S_ISREG(os.stat(os.path.join(root, path)).st_mode):
            return
    raise lost(f"the script {path} is not among them")
