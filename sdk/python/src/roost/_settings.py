"""Resolution of the API key and the base URL."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from ._errors import AuthenticationError
from ._http import httpx
from ._profiles import Profile, chosen, config_path

__all__ = ["Settings", "resolve"]

_DEFAULT_PORT = 8080


@dataclass(frozen=True)
class Settings:
    """An API key, its source, and its server."""

    base_url: str
    api_key: str = field(repr=False)
    key_source: str

    @property
    def loopback(self) -> bool:
        """Whether the server is this machine."""
        return _is_loopback(self.base_url)


def resolve(api_key: str | None = None, base_url: str | None = None) -> Settings:
    """Return the settings from the arguments, the module, the environment or a profile.

    A local Roost's key file comes last, and is only used for a server on this machine. A profile's
    key is only used for the profile's server.
    """
    import roost

    for name, given in (("api_key", api_key), ("roost.api_key", roost.api_key)):
        if given is not None and not given.strip():
            # Treated as "not given", another key would be used, perhaps with more rights.
            raise AuthenticationError(f"{name} is empty; omit it to use the next available key")
    wanted = base_url or roost.base_url or os.environ.get("ROOST_URL")
    own = api_key or roost.api_key or os.environ.get("ROOST_API_KEY")
    profile = None if wanted and own and own.strip() else _profile()
    in_profile = profile.url if profile is not None and profile.url else _local_url()
    url = _clean_url(wanted or in_profile)
    for key, source in (
        (api_key, "api_key="),
        (roost.api_key, "roost.api_key"),
        (os.environ.get("ROOST_API_KEY"), "ROOST_API_KEY"),
    ):
        if key and key.strip():
            return _settings(url, key, source)
    if profile is not None and profile.api_key and url == _clean_url(in_profile):
        source = f"the profile {profile.name!r} in {config_path()}"
        return _settings(url, profile.api_key, source)

    ways = "set roost.api_key or ROOST_API_KEY, pass api_key= to roost.Client, or run `roost login`"
    if not _is_loopback(url):
        raise AuthenticationError(f"there is no API key for {url}: {ways}")
    path = Path(os.environ.get("ROOST_DATA") or "~/.roost").expanduser() / "api_key"
    try:
        key = path.read_text(encoding="utf-8")
    except OSError as error:
        raise AuthenticationError(
            f"there is no API key: {ways}. A server on this machine writes one to {path}, which "
            f"can't be read: {error.strerror or error}"
        ) from None
    except UnicodeDecodeError:
        key = ""
    if not key.strip():
        raise AuthenticationError(f"there is no API key in {path}: {ways}")
    return _settings(url, key, str(path))


def _profile() -> Profile | None:
    try:
        return chosen()
    except ValueError as error:
        raise AuthenticationError(str(error)) from None


def _settings(url: str, key: str, source: str) -> Settings:
    key = key.strip()
    # Checked here, since the HTTP library's error would contain the key.
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise AuthenticationError(
            f"the API key from {source} has invalid characters (it is not shown here); was it "
            "copied completely, and nothing else?"
        ) from None
    return Settings(url, key, source)


def _clean_url(text: str) -> str:
    try:
        url = httpx.URL(text.strip())
    except httpx.InvalidURL as error:
        raise ValueError(f"the base URL is invalid: {error}") from None
    if url.userinfo:
        raise ValueError("the base URL must not contain a user name or a password")
    if url.scheme not in ("http", "https") or not url.host or url.query or url.fragment:
        raise ValueError(f"the base URL must look like http://127.0.0.1:8080, not {text!r}")
    clean = str(url).rstrip("/")
    return clean[: -len("/v1")] if clean.endswith("/v1") else clean


def _local_url() -> str:
    """Return the URL of a Roost on this machine, which also reads `ROOST_PORT`."""
    text = os.environ.get("ROOST_PORT") or str(_DEFAULT_PORT)
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise ValueError(f"ROOST_PORT must be a port, not {text!r}")
    return f"http://127.0.0.1:{text}"


def _is_loopback(url: str) -> bool:
    host = httpx.URL(url).host
    if host == "localhost":
        return True
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
