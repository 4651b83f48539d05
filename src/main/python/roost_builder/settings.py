"""Which package index a build uses, and which environment variables ``uv`` gets.

The first of these that is set names the index:

1. ``ROOST_BUILDS_INDEX_URL`` (the setting ``roost.builds.index-url``), in the environment because arguments
   can be seen by everyone and it may hold credentials;
2. uv's own variables (``UV_DEFAULT_INDEX``, ``UV_INDEX_URL``, ``UV_INDEX``, …);
3. uv's own configuration of the user or the machine (``~/.config/uv/uv.toml``, ``/etc/uv/uv.toml``);
4. pip's settings: ``PIP_INDEX_URL`` and ``PIP_EXTRA_INDEX_URL``, then ``pip.conf``;
5. uv's default.

Places beside an index (``find-links``) are not used. Certificates come from ``SSL_CERT_FILE``, or from where
pip's settings say.
"""

import configparser
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from roost_builder import archive

ROOST_INDEX = "ROOST_BUILDS_INDEX_URL"
UV_INDEX_NAMES = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL", "UV_CONFIG_FILE")


def uv_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for uv and the build backends that it starts."""
    result = {key: value for key, value in environment.items() if not key.startswith(("ROOST_", "PIP_", "PYTHON"))}
    result.pop("UV_FIND_LINKS", None)
    pip = pip_settings(environment)
    if environment.get(ROOST_INDEX):
        for name in UV_INDEX_NAMES:
            result.pop(name, None)
        result["UV_DEFAULT_INDEX"] = environment[ROOST_INDEX]
    elif not any(environment.get(name) for name in UV_INDEX_NAMES) and not has_uv_configuration(environment):
        if pip.get("index-url"):
            result["UV_DEFAULT_INDEX"] = pip["index-url"]
        if pip.get("extra-index-url"):
            result["UV_INDEX"] = " ".join(pip["extra-index-url"].split())
    certificates = environment.get("SSL_CERT_FILE") or environment.get("REQUESTS_CA_BUNDLE") or pip.get("cert")
    if certificates:
        result["SSL_CERT_FILE"] = certificates
    result.update(
        {
            "NO_COLOR": "1",
            "UV_NO_PROGRESS": "1",
            "UV_PYTHON_DOWNLOADS": "never",
            "UV_PREVIEW_FEATURES": "pylock",
            # A hard link into uv's cache would let one agent's script change another's packages.
            "UV_LINK_MODE": "copy",
        }
    )
    return result


def layer_environment(environment: Mapping[str, str], directory: Path) -> dict[str, str]:
    """The environment for making a layer: what would let one build differ from another is fixed.

    directory: what is written on the way goes there; in a container the home directory is read-only, or not there.
    """
    result = {key: value for key, value in environment.items() if not key.startswith(("LC_", "LANG"))}
    result.update(
        {
            "HOME": str(directory),
            "UV_CACHE_DIR": str(directory / "cache"),
            "PYTHONHASHSEED": "0",
            "SOURCE_DATE_EPOCH": str(archive.TIME),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
    )
    for name in ("CFLAGS", "CXXFLAGS", "FFLAGS"):
        # uv builds in directories with random names, which debugging information would repeat.
        result[name] = (environment.get(name, "") + " -g0").strip()
    return result


def pip_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """What pip would use of ``index-url``, ``extra-index-url`` and ``cert``."""
    settings: dict[str, str] = {}
    for path in pip_files(environment):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("global", "install"):
            if parser.has_section(section):
                settings.update(parser.items(section))
    for name in ("index-url", "extra-index-url", "cert"):
        value = environment.get("PIP_" + name.upper().replace("-", "_"))
        if value:
            settings[name] = value
    return settings


def pip_files(environment: Mapping[str, str]) -> list[Path]:
    """pip's configuration files, the strongest last."""
    named = environment.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return []
    home = home_directory(environment)
    files = [Path("/etc/pip.conf")]
    if home:
        files += [home / ".pip" / "pip.conf", configuration_directory(environment, home) / "pip" / "pip.conf"]
    return files + ([Path(named)] if named else [])


def has_uv_configuration(environment: Mapping[str, str]) -> bool:
    """Whether a configuration file of uv is there, which then decides about the index."""
    home = home_directory(environment)
    files = [Path("/etc/uv/uv.toml")]
    if home:
        files.append(configuration_directory(environment, home) / "uv" / "uv.toml")
    return any(file.is_file() for file in files)


def home_directory(environment: Mapping[str, str]) -> Optional[Path]:
    """The home directory that the environment names, or None."""
    return Path(environment["HOME"]) if environment.get("HOME") else None


def configuration_directory(environment: Mapping[str, str], home: Path) -> Path:
    """Where programs keep their configuration: XDG_CONFIG_HOME or ~/.config."""
    named = environment.get("XDG_CONFIG_HOME")
    return Path(named) if named else home / ".config"
