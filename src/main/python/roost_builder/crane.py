"""Runs ``crane``, a client of container registries, and classifies its errors.

crane needs no privileges and no daemon: an image is a few documents and archives that it sends over HTTP.
It retries a request three times; here the whole command is retried, for registries that restart.
"""

import re
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from roost_builder import credentials
from roost_builder.failures import MAX_MESSAGE_CHARACTERS, BuildFailed, cause_of

PAUSES_SECONDS = (2.0, 8.0)

MISSING = re.compile(
    r"MANIFEST_UNKNOWN|NAME_UNKNOWN|NAME_INVALID|NOT_FOUND|\b404\b|no child with platform|could not parse reference|"
    r"repository can only contain|repository must be between|tag can only contain"
)
REFUSED = re.compile(r"UNAUTHORIZED|DENIED|\b401\b|\b403\b|unauthorized|authentication required|access forbidden")
UNSUPPORTED = re.compile(r"\bUNSUPPORTED\b|\b405\b")
TRANSIENT = re.compile(
    r"\b(408|429|499|500|502|503|504|522)\b|TOOMANYREQUESTS|UNAVAILABLE|\bEOF\b|broken pipe|i/o timeout|"
    r"connection (refused|reset)|TLS handshake timeout|Client\.Timeout|no route to host|server misbehaving|"
    r"Temporary failure|http2: |BLOB_UPLOAD_(INVALID|UNKNOWN)"
)
TIME = re.compile(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d ")


class CraneFailed(Exception):
    """crane has ended with an error."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.missing = MISSING.search(message) is not None
        self.refused = REFUSED.search(message) is not None
        self.unsupported = UNSUPPORTED.search(message) is not None
        self.transient = TRANSIENT.search(message) is not None and not self.missing and not self.refused
        self.pulling = message.startswith("pulling ")


class Crane:
    """crane for one platform's images, or without a platform."""

    def __init__(
        self, executable: str, platform: Optional[str], insecure: bool, environment: Mapping[str, str]
    ) -> None:
        self.command = [executable, *(["--platform", platform] if platform else [])]
        self.command += ["--insecure"] if insecure else []
        self.environment = environment

    def digest(self, image: str) -> str:
        """The digest of the image for the platform."""
        return self._run("digest", "--", image)

    def manifest(self, image: str) -> str:
        """The image's manifest, JSON text."""
        return self._run("manifest", "--", image)

    def append(self, base: str, layer: Path, image: str) -> str:
        """Pushes the base image with a layer as a new image, and returns that by digest."""
        return self._run("append", f"--base={base}", f"--new_layer={layer}", f"--new_tag={image}")

    def delete(self, image: str) -> None:
        """Removes the image of that digest, with all tags that name it."""
        self._run("delete", "--", image)

    def _run(self, *arguments: str) -> str:
        for pause in PAUSES_SECONDS:
            try:
                return self._try(*arguments)
            except CraneFailed as failure:
                if not failure.transient:
                    raise
                print(f"{failure.message}; trying again in {pause:g} s")
                time.sleep(pause)
        return self._try(*arguments)

    def _try(self, *arguments: str) -> str:
        """Standard output of crane, whose progress is printed."""
        with tempfile.TemporaryFile("w+", encoding="utf-8") as answer:
            try:
                process = subprocess.Popen(
                    [*self.command, *arguments],
                    env=self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=answer,
                    stderr=subprocess.PIPE,
                    encoding="utf-8",
                    errors="replace",
                )
            except OSError as error:
                raise BuildFailed("runtime_unavailable", f"crane can't be run: {cause_of(error)}") from error
            assert process.stderr is not None
            errors: list[str] = []
            for raw in process.stderr:
                line = TIME.sub("", credentials.hide(raw.rstrip("\n")))
                if errors or line.startswith("Error: "):
                    errors.append(line)
                else:
                    print(line)
            if process.wait() != 0:
                message = "\n".join(errors)[len("Error: ") :] or f"crane ended with status {process.returncode}."
                raise CraneFailed(message[:MAX_MESSAGE_CHARACTERS])
            answer.seek(0)
            return answer.read().strip()
