"""Which certificate authorities are trusted: the system's, and those of ``ROOST_CA_FILE``.

uv and crane take one file, ``SSL_CERT_FILE``, instead of the system's; so both are joined into one.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Optional

from roost_builder.failures import BuildFailed, cause_of

ADDED = "ROOST_CA_FILE"
# Where distributions keep theirs: Debian and Alpine, Fedora, SUSE, older Alpine.
SYSTEM = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


def bundle(environment: Mapping[str, str], own_environment: Mapping[str, str], directory: Path) -> Optional[Path]:
    """The file with all trusted authorities, or None where there are none.

    environment: the program's, which may name a file in ``SSL_CERT_FILE`` already.
    own_environment: where ``ROOST_CA_FILE`` may be.
    directory: where to write the file.
    """
    system = next(filter(is_nonempty, [Path(environment.get("SSL_CERT_FILE", "")), *map(Path, SYSTEM)]), None)
    added = own_environment.get(ADDED)
    if not added:
        return system
    try:
        certificates = Path(added).read_bytes()
    except OSError as error:
        raise BuildFailed(
            "runtime_unavailable", f"The certificate authorities can't be read: {cause_of(error)}"
        ) from error
    joined = directory / "certificate-authorities.pem"
    joined.write_bytes((system.read_bytes() + b"\n" if system else b"") + certificates)
    return joined


def is_nonempty(file: Path) -> bool:
    """Whether it is a file, and not empty."""
    return os.path.isfile(file) and os.path.getsize(file) > 0


def of_registries(environment: Mapping[str, str], directory: Path) -> dict[str, str]:
    """The environment for a program that connects to registries, with the added authorities.

    directory: where to write the file.
    """
    result = dict(environment)
    if result.get(ADDED):
        result["SSL_CERT_FILE"] = str(bundle(result, result, directory))
    return result
