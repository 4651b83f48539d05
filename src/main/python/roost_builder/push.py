"""Puts a layer onto its base image and pushes the result.

Runs in a container of its own, the only one with the registry's credentials. The build's files were written by
untrusted code, and are read as such.
"""

import argparse
import json
import os
import re
import stat
import tempfile
import time
from pathlib import Path
from typing import Any

from roost_builder import certificates
from roost_builder.crane import Crane, CraneFailed
from roost_builder.failures import BuildFailed, cause_of

MAX_RESULT_BYTES = 16 << 20
# As ``symbols`` limits it.
SYMBOLS = re.compile(r"[A-Za-z0-9+/=]{0,600000}", re.ASCII)
DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")

# A package's fields in the result, and their types.
PACKAGE = {"name": str, "version": str, "sha256": str, "size_bytes": int}


def push(options: argparse.Namespace) -> dict[str, Any]:
    """Push the image, and return the fields of the successful result; raise BuildFailed."""
    with tempfile.TemporaryDirectory() as directory:
        environment = certificates.of_registries(os.environ, Path(directory))
        crane = Crane(options.crane, options.platform, options.insecure, environment)
        built = result_of_build(options.layer / "result.json")
        base = resolve(crane, options.base, options.platform)
        layer = options.layer / "layer.tar"
        if not layer.exists() and not layer.is_symlink():
            print("No layer: the image is the base image itself")
            return {"image": base, "layer": None, "base": base, **built}
        return {**append(crane, base, layer, options), "base": base, **built}


def look_up(options: argparse.Namespace) -> dict[str, Any]:
    """Return the digest that the base image's tag names for the platform now; raise BuildFailed."""
    with tempfile.TemporaryDirectory() as directory:
        environment = certificates.of_registries(os.environ, Path(directory))
        crane = Crane(options.crane, options.platform, options.insecure, environment)
        return {"digest": resolve(crane, options.base, options.platform).rpartition("@")[2]}


def append(crane: Crane, base: str, layer: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Push the base image with the layer, and return the digests of both by the result's names."""
    size = size_of(layer)
    image = f"{options.repository}:{options.key}"
    print(f"Pushing {image} with a layer of {size / 1e6:.1f} MB")
    started = time.monotonic()
    try:
        pushed = crane.append(base, layer, image)
        digest = pushed.rpartition("@")[2]
        layers = json.loads(crane.manifest(f"{options.repository}@{digest}"))["layers"]
    except CraneFailed as failure:
        if failure.pulling:
            raise base_failure(failure, options.base, options.platform) from failure
        message = f"The image {image} could not be pushed: {explained(failure)}"
        raise BuildFailed("registry_unreachable", message) from failure
    print(f"Pushed {image}@{digest} in {time.monotonic() - started:.1f} s")
    return {"image": f"{options.pull_repository}@{digest}", "layer": layers[-1]["digest"]}


def resolve(crane: Crane, base: str, platform: str) -> str:
    """The base image's name with the digest that it has for the platform now."""
    try:
        digest = crane.digest(base)
    except CraneFailed as failure:
        raise base_failure(failure, base, platform) from failure
    resolved = f"{DIGEST.sub('', base)}@{digest}"
    print(f"Base image {resolved} ({platform})")
    return resolved


def base_failure(failure: CraneFailed, base: str, platform: str) -> BuildFailed:
    """Why a base image can't be used."""
    if failure.missing:
        message = f"There is no base image {base} for {platform}: {failure.message}"
        return BuildFailed("python_version_unavailable", message)
    return BuildFailed("registry_unreachable", f"The base image {base} could not be read: {explained(failure)}")


def explained(failure: CraneFailed) -> str:
    """crane's message, with a hint where the registry refused it."""
    if failure.refused:
        return failure.message + "\nThe registry refused it: check its credentials and what they allow."
    return failure.message


def result_of_build(file: Path) -> dict[str, Any]:
    """The build's result, validated."""
    try:
        if size_of(file) > MAX_RESULT_BYTES:
            raise ValueError("it is too large")
        result = json.loads(file.read_bytes())
        packages = [{name: kind(package[name]) for name, kind in PACKAGE.items()} for package in result["packages"]]
        symbols = result.get("symbols")
        if symbols is not None and not (isinstance(symbols, str) and SYMBOLS.fullmatch(symbols)):
            raise ValueError("its index of symbols is not base64")
        known = {"packages": packages, "size_bytes": int(result["size_bytes"])}
        return {**known, "symbols": symbols} if symbols else known
    except OSError as error:
        raise BuildFailed("runtime_unavailable", f"The build has left no valid result: {cause_of(error)}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise BuildFailed("runtime_unavailable", f"The build has left no valid result: {error!r}") from error


def size_of(file: Path) -> int:
    """The size of a regular file; anything else is refused.

    A link could lead to the registry's credentials, which would then be pushed as a layer.
    """
    status = file.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise BuildFailed("runtime_unavailable", f"What the build has left as {file.name} is not a file.")
    return status.st_size
