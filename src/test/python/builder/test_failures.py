"""uv's errors become the API's reasons. The texts are those of uv 0.13, shortened."""

import errno

import pytest
from roost_builder.failures import explain_os_error, failure_of

NOT_FOUND = """\
error: No solution found when resolving dependencies
  cause: Because no-such-package was not found in the package registry and you require no-such-package==1.0, we can \
conclude that your requirements are unsatisfiable."""
CONFLICT = """\
error: No solution found when resolving dependencies
  cause: Because requests==2.32.3 depends on urllib3>=1.21.1,<3 and you require requests==2.32.3, we can conclude that \
you require urllib3>=1.21.1,<3.
         And because you require urllib3==1.20, we can conclude that your requirements are unsatisfiable."""
OTHER_PYTHON = """\
error: No solution found when resolving dependencies
  cause: Because tensorflow==1.15.0 has no wheels with a matching Python ABI tag (e.g., `cp311`) and you require \
tensorflow==1.15.0, we can conclude that your requirements are unsatisfiable.

hint: You require CPython 3.11 (`cp311`), but we only found wheels for `tensorflow` (v1.15.0) with `cp27m`"""
UNAUTHORIZED = (
    NOT_FOUND
    + """

hint: An index URL (https://index.example/simple) could not be queried due to a lack of valid authentication \
credentials (401 Unauthorized)"""
)
REFUSED = """\
error: Request failed after 3 retries in 6.7s
  cause: Failed to fetch: https://index.example/simple/requests/
  cause: error sending request for url (https://index.example/simple/requests/)
  cause: client error (Connect)
  cause: tcp connect error
  cause: Connection refused (os error 111)"""
BUILD = """\
   Building thing==1.0
error: Failed to build `thing==1.0`
  cause: The build backend returned an error
  cause: Call to `setuptools.build_meta.build_wheel` failed (exit status: 1)

         [stdout]
         running build

         [stderr]
         thing.c:1:10: fatal error: nothing.h: No such file or directory
           1 | #include <nothing.h>

hint: Build failures usually indicate a problem with the package or the build environment"""
COMPILER_KILLED = BUILD.replace("exit status: 1", "signal: 9 (SIGKILL)")
DISK = """\
error: Failed to download `numpy==2.3.1`
  cause: failed to write to file `/x/numpy.so`: No space left on device (os error 28)"""


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (NOT_FOUND, "requirement_not_found"),
        (OTHER_PYTHON, "requirement_not_found"),
        (CONFLICT, "requirements_conflict"),
        (UNAUTHORIZED, "index_unreachable"),
        (REFUSED, "index_unreachable"),
        (BUILD, "build_from_source_failed"),
        (COMPILER_KILLED, "out_of_memory"),
        (DISK, "out_of_disk"),
        ("error: something nobody has seen before", "runtime_unavailable"),
    ],
)
def test_each_failure_has_its_reason(said: str, reason: str) -> None:
    assert failure_of(1, said.splitlines()).reason == reason


def test_a_killed_uv_ran_out_of_memory() -> None:
    assert failure_of(-9, []).reason == "out_of_memory"


def test_the_message_is_the_explanation_alone() -> None:
    message = failure_of(1, ["Resolving", *CONFLICT.splitlines()]).message
    assert message.startswith("No solution found")
    assert message.endswith(
        "And because you require urllib3==1.20, we can conclude that your requirements are unsatisfiable."
    )
    assert "cause:" not in message


def test_a_failed_compiler_is_quoted_with_its_own_error() -> None:
    message = failure_of(1, BUILD.splitlines()).message
    assert "fatal error: nothing.h" in message
    assert "running build" not in message
    assert "hint" not in message


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "error: Couldn't parse requirement in `/srv/roost/data/jobs/job_1/requirements.txt` at position 0",
            "Couldn't parse requirement in `…/requirements.txt` at position 0",
        ),
        ("error: failed to write to file '/home/me/.cache/uv/x.so'", "failed to write to file '…/x.so'"),
        ("error: no such file: /srv/roost/a/b, ~/.config/uv.toml", "no such file: …/b, …/uv.toml"),
        (
            "error: Failed to fetch: https://index.example/simple/requests/",
            "Failed to fetch: https://index.example/simple/requests/",
        ),
        ("error: either this and/or/that", "either this and/or/that"),
    ],
)
def test_no_message_reveals_where_the_server_keeps_its_files(said: str, message: str) -> None:
    assert failure_of(1, [said]).message == message


@pytest.mark.parametrize(
    ("number", "reason"),
    [(errno.ENOSPC, "out_of_disk"), (errno.ENOMEM, "out_of_memory"), (errno.EACCES, "runtime_unavailable")],
)
def test_an_error_of_the_operating_system_names_no_path(number: int, reason: str) -> None:
    found, message = explain_os_error(OSError(number, "It went wrong", "/srv/roost/data/jobs/job_1"))
    assert (found, "/srv" in message, "It went wrong" in message) == (reason, False, True)
