"""The environment variables of builds and executors, the same as in a server's local runtime.

Only what programs need on this machine, so that a script sees the same variables when deployed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

__all__ = ["for_build", "for_executor"]

_STANDARD_PATH = "/usr/local/bin:/usr/bin:/bin"
_FOR_ALL = (
    *("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
)
_FOR_BUILDS = (
    *("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE", "PIP_CERT", "NETRC"),
    *("ROOST_BUILDS_INDEX_URL", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"),
    *("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "PKG_CONFIG_PATH"),
)


def for_executor(own: Mapping[str, str], environment: Path) -> dict[str, str]:
    """Return the variables of an executor with the packages of `environment`."""
    result = _common(own)
    result["PATH"] += f":{environment / 'bin'}"
    return result


def for_build(own: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a build, with settings of uv and of the package index."""
    result = _common(own)
    result.update({name: own[name] for name in _FOR_BUILDS if name in own})
    result.update({name: value for name, value in own.items() if name.startswith("UV_")})
    return result


def _common(own: Mapping[str, str]) -> dict[str, str]:
    result = {"PATH": own.get("PATH", _STANDARD_PATH), "LANG": "C.UTF-8"}
    result.update({name: own[name] for name in _FOR_ALL if name in own})
    return result
