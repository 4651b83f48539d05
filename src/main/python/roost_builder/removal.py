"""Removes an image from its registry. Runs in a container of its own, with the registry's credentials."""

import argparse
import os
import tempfile
from pathlib import Path
from typing import Any

from roost_builder import certificates
from roost_builder.crane import Crane, CraneFailed
from roost_builder.failures import BuildFailed
from roost_builder.push import explained


def delete(options: argparse.Namespace) -> dict[str, Any]:
    """Remove the image, and return the fields of the successful result; raise BuildFailed.

    An image that isn't there, or a registry that supports no deletion, is a success: there is nothing to do.
    """
    with tempfile.TemporaryDirectory() as directory:
        environment = certificates.of_registries(os.environ, Path(directory))
        crane = Crane(options.crane, None, options.insecure, environment)
        try:
            crane.delete(options.image)
        except CraneFailed as failure:
            if failure.missing:
                return {"found": "missing", "message": failure.message}
            if failure.unsupported:
                return {"found": "unsupported", "message": failure.message}
            message = f"The image {options.image} could not be deleted: {explained(failure)}"
            raise BuildFailed("registry_unreachable", message) from failure
        return {"found": "image"}
