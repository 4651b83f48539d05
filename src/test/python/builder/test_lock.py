"""The file that a distribution was installed from is found in the lock."""

from pathlib import Path

from roost_builder.lock import File, read, source_of, wheel_tags

HASHES = {name: character * 64 for name, character in zip(["sdist", "linux", "mac", "pure"], "abcd")}
LOCK = f"""\
lock-version = "1.0"

[[packages]]
name = "Some_Package"
version = "1.0"
sdist = {{ url = "https://x/some_package-1.0.tar.gz", upload-time = 2024-01-01T00:00:00Z, size = 1, hashes = {{ sha256 = "{HASHES["sdist"]}" }} }}
wheels = [
    {{ url = "https://x/some_package-1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", hashes = {{ sha256 = "{HASHES["linux"]}" }} }},
    {{ url = "https://x/some_package-1.0-cp311-cp311-macosx_11_0_arm64.whl", hashes = {{ sha256 = "{HASHES["mac"]}" }} }},
]

[[packages]]
name = "pure"
version = "2.0"
wheels = [{{ url = "https://x/pure-2.0-py2.py3-none-any.whl", hashes = {{ sha256 = "{HASHES["pure"]}" }} }}]
"""


def files(directory: Path) -> "dict[str, list[File]]":
    path = directory / "pylock.toml"
    path.write_text(LOCK)
    return read(path)


def sha256(directory: Path, package: str, *tags: str) -> str:
    found = source_of(files(directory)[package], frozenset(tags), None)
    assert found is not None
    return found.sha256


def test_every_file_of_the_lock_is_read(tmp_path: Path) -> None:
    assert [len(found) for found in files(tmp_path).values()] == [3, 1]


def test_a_wheel_is_known_by_its_tags(tmp_path: Path) -> None:
    tags = ["cp311-cp311-manylinux_2_17_x86_64", "cp311-cp311-manylinux2014_x86_64"]
    assert sha256(tmp_path, "some-package", *tags) == HASHES["linux"]
    assert sha256(tmp_path, "pure", "py2-none-any", "py3-none-any") == HASHES["pure"]


def test_what_was_built_here_came_from_the_sdist(tmp_path: Path) -> None:
    assert sha256(tmp_path, "some-package", "cp311-cp311-linux_x86_64") == HASHES["sdist"]


def test_a_wheel_whose_metadata_names_fewer_tags_is_still_known(tmp_path: Path) -> None:
    assert sha256(tmp_path, "some-package", "cp311-cp311-manylinux2014_x86_64") == HASHES["linux"]


def test_tags_are_read_from_names_with_a_build_number() -> None:
    assert wheel_tags("a-1.0-2-py3-none-any.whl") == {"py3-none-any"}
