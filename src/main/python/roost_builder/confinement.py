"""What uv, and the build code of packages that it runs, may access on a machine that they share with Roost."""

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Callable

from roost_builder.settings import configuration_directory, home_directory

FILES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSL_CLIENT_CERT", "UV_CONFIG_FILE", "NETRC")


def prepared(options: argparse.Namespace, environment: dict[str, str]) -> Callable[[], None]:
    """A function that confines a process to this build. Sets ``TMPDIR``, since builds can't write to ``/tmp``.

    environment: uv's; the certificates and configuration that it names can be read. uv's cache can be written, and
    is shared by all builds.
    """
    from roost_executor import sandbox  # beside this package where builds are confined

    temporary = options.directory / "temporary"
    temporary.mkdir(exist_ok=True)
    environment["TMPDIR"] = str(temporary)
    writable = [options.directory]
    if environment.get("UV_CACHE_DIR"):
        writable.append(Path(environment["UV_CACHE_DIR"]))
        writable[-1].mkdir(parents=True, exist_ok=True)
    readable = [options.uv, options.requirements, *settings_files(environment)]
    if options.wheel is not None:
        readable.append(options.wheel)
    sandbox.set_up(options.sandbox)
    return lambda: sandbox.confine([os.path.realpath(path) for path in readable], [str(path) for path in writable])


def settings_files(environment: Mapping[str, str]) -> list[Path]:
    """Where uv finds its configuration, and passwords for package indexes."""
    files = [Path(environment[name]) for name in FILES if environment.get(name)]
    home = home_directory(environment)
    if home:
        files += [configuration_directory(environment, home) / "uv", home / ".netrc"]
        files.append(home / ".local" / "share" / "uv" / "credentials")
    return files
