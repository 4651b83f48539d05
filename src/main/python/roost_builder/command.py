"""The command line of the builder.

::

    roost_builder --uv PATH --directory TMP --requirements FILE --timeout SECONDS
        --target venv --output DIR [--sandbox JSON] [--wheel FILE]
    roost_builder --uv PATH --directory TMP --requirements-variable NAME --timeout SECONDS
        --target layer --prefix /opt/roost/env --output DIR [--wheel FILE]
    roost_builder push --base IMAGE --repository REPOSITORY --pull-repository REPOSITORY --key TAG
        --platform linux/amd64 --layer DIR [--insecure] [--timeout SECONDS]
    roost_builder delete --image REPOSITORY@DIGEST [--insecure] [--timeout SECONDS]
    roost_builder resolve --base IMAGE --platform linux/amd64 [--insecure] [--timeout SECONDS]

``TMP`` is removed at the end. The output of ``uv`` or ``crane`` goes to standard output line by line. A result is
the last line, a JSON object::

    {"outcome": "succeeded", "packages": [{"name", "version", "sha256", "size_bytes"}, …], "size_bytes": 123,
     "symbols": the index of ``symbols``, where there is one}
    {"outcome": "failed", "reason": "requirements_conflict", "message": "Because …"}

The target ``venv`` makes a virtual environment. ``TMP`` must be on the file system of ``DIR``: a finished
environment is renamed to ``DIR``, so that what is there is always complete, and a ``DIR`` that exists already is
kept, since its name says what is in it. The exit status is 0 with either result; another one means that the
builder was ended from outside.

The target ``layer`` makes the environment at its final path and packs it into ``DIR/layer.tar``; without any
requirement there is no such file. The successful result goes to ``DIR/result.json`` for ``push``, not to standard
output; a failed one is printed, and the exit status is 1. ``push`` puts the layer onto the base image, pushes that,
and prints either result, with the exit status 0 or 1; a successful one also has::

    {"image": "REPOSITORY@sha256:…", "layer": "sha256:…" or null, "base": "IMAGE@sha256:…"}

``delete`` removes an image from its registry and prints either result, with the exit status 0 or 1; a successful one
also has ``found``: ``image`` (it is deleted now), ``missing``, or ``unsupported``, when the registry deletes
nothing; the last two with the registry's message::

    {"outcome": "succeeded", "found": "unsupported", "message": "…"}

``resolve`` looks up what an image's tag names now and prints either result, with the exit status 0 or 1; a successful
one also has the digest for the platform::

    {"outcome": "succeeded", "digest": "sha256:…"}

With ``--wheel``, requirements of that wheel's package mean the wheel; see ``sdk``.

``settings`` has the choice of the package index, ``certificates`` that of the certificate authorities.
"""

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Optional

from roost_builder import certificates, confinement, credentials, layer, sdk, venv
from roost_builder.push import look_up, push
from roost_builder.removal import delete
from roost_builder.settings import layer_environment, uv_environment
from roost_builder.supervision import Outcome, supervised
from roost_builder.uv import Uv

PUSH_TIMEOUT_SECONDS = 900.0
DELETE_TIMEOUT_SECONDS = 120.0
RESOLVE_TIMEOUT_SECONDS = 120.0


def main(arguments: Optional[list[str]] = None) -> int:
    """Runs one of the commands; see the module for what it prints and returns."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["push"]:
        options = parse_push(arguments[1:])
        return supervised(lambda: Outcome(push(options)), "push", options.timeout).status
    if arguments[:1] == ["delete"]:
        options = parse_delete(arguments[1:])
        return supervised(lambda: Outcome(delete(options)), "deletion", options.timeout).status
    if arguments[:1] == ["resolve"]:
        options = parse_resolve(arguments[1:])
        return supervised(lambda: Outcome(look_up(options)), "look-up", options.timeout).status
    options = parse_build(arguments)
    try:
        ended = supervised(lambda: Outcome(build(options), silent=layers(options)), "build", options.timeout)
    finally:
        shutil.rmtree(options.directory, ignore_errors=True)
    return ended.status if layers(options) or ended.terminated else 0


def build(options: argparse.Namespace) -> dict[str, Any]:
    """Builds the target, and returns the fields of the successful result."""
    options.directory.mkdir(parents=True, exist_ok=True)
    if options.requirements is None:
        options.requirements = options.directory / "requirements.txt"
    if options.requirements_variable is not None:
        options.requirements.write_text(os.environ.get(options.requirements_variable, "") + "\n", encoding="utf-8")
    if options.wheel is not None:
        lines = sdk.with_wheel(options.requirements.read_text(encoding="utf-8").splitlines(), options.wheel)
        options.requirements = options.directory / "with-wheel.txt"
        options.requirements.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    environment = uv_environment(os.environ)
    hidden = credentials.passwords(environment)
    if not layers(options):
        confine = None
        if options.sandbox is not None:
            confine = confinement.prepared(options, environment)
        return venv.build(Uv(options.uv, options.directory, environment, hidden, confine), options)
    environment = layer_environment(environment, options.directory)
    authorities = certificates.bundle(environment, os.environ, options.directory)
    if authorities is not None:
        environment["SSL_CERT_FILE"] = str(authorities)
    return layer.build(Uv(options.uv, options.directory, environment, hidden), options)


def layers(options: argparse.Namespace) -> bool:
    """Whether the target is a layer of an image."""
    return bool(options.target == "layer")


def parse_build(arguments: list[str]) -> argparse.Namespace:
    """Reads the command line of a build."""
    parser = argparse.ArgumentParser(prog="roost_builder", description="Installs an agent's requirements.")
    parser.add_argument("--uv", required=True, type=Path, help="the uv executable")
    parser.add_argument("--directory", required=True, type=Path, help="where to work; removed at the end")
    parser.add_argument("--requirements", type=Path, help="name==version, one a line")
    parser.add_argument("--requirements-variable", help="the environment variable to write to that file first")
    parser.add_argument("--target", required=True, choices=["venv", "layer"], help="what to make")
    parser.add_argument("--prefix", type=Path, help="where a layer's environment will be used")
    parser.add_argument("--output", required=True, type=Path, help="where the result is written")
    parser.add_argument("--timeout", required=True, type=float, help="seconds")
    parser.add_argument("--wheel", type=Path, help="what requirements of its name mean")
    parser.add_argument("--sandbox", help="confine uv and build code, as the executor's option says (target venv)")
    options = parser.parse_args(arguments)
    if options.requirements is None and options.requirements_variable is None:
        parser.error("one of --requirements and --requirements-variable is needed")
    if (options.prefix is None) == layers(options):
        parser.error("--prefix goes with --target layer")
    return options


def parse_push(arguments: list[str]) -> argparse.Namespace:
    """Reads the command line of a push."""
    parser = argparse.ArgumentParser(prog="roost_builder push", description="Pushes a layer on its base image.")
    parser.add_argument("--base", required=True, help="the image that the layer was made for")
    parser.add_argument("--repository", required=True, help="where to push")
    parser.add_argument("--pull-repository", required=True, help="the same as those who will run the image call it")
    parser.add_argument("--key", required=True, help="the image's tag")
    parser.add_argument("--platform", required=True, help="as in linux/amd64")
    parser.add_argument("--layer", required=True, type=Path, help="the directory that a build has written to")
    parser.add_argument("--insecure", action="store_true", help="reach registries over plain HTTP too")
    parser.add_argument("--timeout", type=float, default=PUSH_TIMEOUT_SECONDS, help="seconds")
    parser.add_argument("--crane", default="crane", help="the crane executable")
    return parser.parse_args(arguments)


def parse_delete(arguments: list[str]) -> argparse.Namespace:
    """Reads the command line of a deletion."""
    parser = argparse.ArgumentParser(prog="roost_builder delete", description="Removes an image from its registry.")
    parser.add_argument("--image", required=True, help="the image by digest")
    parser.add_argument("--insecure", action="store_true", help="reach registries over plain HTTP too")
    parser.add_argument("--timeout", type=float, default=DELETE_TIMEOUT_SECONDS, help="seconds")
    parser.add_argument("--crane", default="crane", help="the crane executable")
    return parser.parse_args(arguments)


def parse_resolve(arguments: list[str]) -> argparse.Namespace:
    """Reads the command line of a look-up."""
    parser = argparse.ArgumentParser(prog="roost_builder resolve", description="Looks up the digest of a base image.")
    parser.add_argument("--base", required=True, help="the image by tag")
    parser.add_argument("--platform", required=True, help="as in linux/amd64")
    parser.add_argument("--insecure", action="store_true", help="reach registries over plain HTTP too")
    parser.add_argument("--timeout", type=float, default=RESOLVE_TIMEOUT_SECONDS, help="seconds")
    parser.add_argument("--crane", default="crane", help="the crane executable")
    return parser.parse_args(arguments)
