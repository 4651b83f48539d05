"""Which files of a project's directory are sent."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from roost import _project_files
from roost._ignore import IgnoreFile
from roost._project_files import ProjectFilesError, digest_of, select

GIT = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
SEEDS = range(int(os.environ.get("ROOST_TEST_SEEDS", "40")))


def git(directory: Path, *arguments: str, text: bytes = b"") -> bytes:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", *arguments], cwd=directory, env=environment, input=text, stdout=subprocess.PIPE
    )
    assert done.returncode in (0, 1), arguments
    return done.stdout


def write(directory: Path, *paths: str) -> None:
    for path in paths:
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path)


def paths(directory: Path) -> list[str]:
    return [file.path for file in select(directory)]


@pytest.fixture(params=["git", "walk"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """An empty project, with a repository or without."""
    directory = tmp_path / "project"
    directory.mkdir()
    if request.param == "git":
        if shutil.which("git") is None:
            pytest.skip("there is no git")
        git(directory, "init", "-q")
    return directory


def test_what_is_ignored_or_made_by_tools_is_left_out(project: Path) -> None:
    write(project, "main.py", "pkg/mod.py", "pkg/__pycache__/mod.pyc", "x.pyc", "data/a.csv")
    write(project, "venv/pyvenv.cfg", "venv/lib/x.py", "node_modules/a/b.js", ".roost/stores.db")
    write(project, ".mypy_cache/x", ".pytest_cache/x", ".ruff_cache/x", ".tox/x", ".nox/x")
    write(project, "out/log.txt", "keep/log.txt", "tmp.log", "notes/todo.md", "notes/keep.md")
    (project / ".gitignore").write_text("out/\n*.log\n")
    (project / "notes/.roostignore").write_text("*\n!keep.md\n")
    (project / ".roostignore").write_text("keep/*.txt\n!tmp.log\n")
    kept = [".gitignore", ".roostignore", "data/a.csv", "main.py", "notes/keep.md", "pkg/mod.py"]
    assert paths(project) == kept


@GIT
def test_tracked_files_are_sent_though_they_are_ignored_and_removed_ones_are_not(
    tmp_path: Path,
) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, "main.py", "data.bin", "gone.py", "sub/other.py")
    git(tmp_path, "add", ".")
    (tmp_path / ".gitignore").write_text("*.bin\n")
    (tmp_path / "gone.py").unlink()
    write(tmp_path, "other.bin")
    assert paths(tmp_path) == [".gitignore", "data.bin", "main.py", "sub/other.py"]
    assert paths(tmp_path / "sub") == ["other.py"], "a directory below the repository's top"


def test_a_directory_that_its_repository_ignores_is_walked(tmp_path: Path) -> None:
    if shutil.which("git") is not None:
        git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("build/\n")
    write(tmp_path, "build/main.py", "build/x/y.py")
    assert paths(tmp_path / "build") == ["main.py", "x/y.py"]


def test_repositories_within_are_refused(project: Path) -> None:
    write(project, "main.py", "lib/inner/x.py")
    git(project / "lib/inner", "init", "-q")
    if (project / ".git").exists():  # a tracked submodule
        git(project / "lib/inner", "-c", "user.name=a", "-c", "user.email=a@b", "add", ".")
        commit = ("commit", "-qm", "x")
        git(project / "lib/inner", "-c", "user.name=a", "-c", "user.email=a@b", *commit)
        git(project, "add", ".")
    with pytest.raises(ProjectFilesError, match=r"^lib/inner is a Git repository of its own"):
        select(project)
    (project / ".roostignore").write_text("/lib/\n")
    assert paths(project) == [".roostignore", "main.py"]


def test_links_are_sent_as_files_of_the_directory_or_refused(project: Path) -> None:
    write(project, "main.py", "data/a")
    (project / "link").symlink_to("data/a")
    sent = {file.path: file for file in select(project)}
    assert sent["link"].source == (project / "data/a").resolve()
    assert sent["link"].size_bytes == len("data/a")
    for target, said in (
        ("data", "leads to a directory: data"),
        ("../outside", "leads out of the directory: ../outside"),
        ("/etc/passwd", "leads out"),
        ("nothing", "leads to no file"),
    ):
        (project / "link").unlink()
        (project / "link").symlink_to(target)
        with pytest.raises(ProjectFilesError, match=f"^link is a symbolic link that {said}"):
            select(project)


def test_modes_are_kept_and_special_files_are_not(project: Path) -> None:
    write(project, "run.sh", "main.py")
    (project / "run.sh").chmod(0o744)
    os.mkfifo(project / "pipe")
    sent = [(file.path, file.executable) for file in select(project)]
    assert sent == [("main.py", False), ("run.sh", True)]


@pytest.mark.parametrize("name", ["a\\b", "a\nb", "x" * 3 + "\x7f", os.fsdecode(b"\xff.py")])
def test_names_that_are_not_portable_are_refused(project: Path, name: str) -> None:
    write(project, "main.py")
    (project / name).write_text("")
    with pytest.raises(ProjectFilesError, match="Rename it"):
        select(project)


def test_paths_are_sorted_by_their_bytes(tmp_path: Path) -> None:
    write(tmp_path, "b", "B", "é", "z", "a/b", "a.b", "\U0001f600", "\uffee")
    assert paths(tmp_path) == ["B", "a.b", "a/b", "b", "z", "é", "\uffee", "\U0001f600"]


def test_limits_name_the_largest_directories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "main.py", "data/x/1", "data/x/2", "data/y", "other/z")
    (tmp_path / "data/x/1").write_bytes(b"x" * (2 << 20))
    monkeypatch.setattr(_project_files, "MAX_BYTES", 1 << 20)
    with pytest.raises(ProjectFilesError, match=r"2\.0 MiB; 1\.0 MiB is.*: data/x/ \(2\.0 MiB\)"):
        select(tmp_path)
    monkeypatch.setattr(_project_files, "MAX_FILES", 3)
    with pytest.raises(ProjectFilesError, match=r"5 files; 3 is the limit.*data/x/ \(2 files\)"):
        select(tmp_path)


def test_the_digest_is_of_lines_in_the_order_of_the_bytes() -> None:
    import hashlib

    lines = f"{'1' * 64} x a/b\n{'0' * 64} - b\n{'2' * 64} - é\n"
    files = [("é", "2" * 64, False), ("b", "0" * 64, False), ("a/b", "1" * 64, True)]
    assert digest_of(files) == hashlib.sha256(lines.encode()).hexdigest()


NAMES = ["a", "b", "ab", "a.py", "b.txt", "a b", "x ", "#a", "!b", "[a]", "a*b", "é", "A", "-", "]"]
PARTS = [
    *("*", "**", "?", "a", "b", "ab", "*.py", "a*", "*b", "[ab]", "[!a]", "[^b]", "[a-z]", "[]a]"),
    *("[[:alpha:]]", "[[:punct:]]", "[[:no:]]", "[a", "\\*", "\\a", "[\\]]", "x ", "x\\ ", "***"),
    *("é", "a?b", "**a", "a**", "#a", "\\#a", "\\!b", "[--a]", "[!]", "a\\", "[[:a]", "[[::]]"),
]


def random_pattern(chance: random.Random) -> str:
    pattern = "/".join(
        "".join(chance.choices(PARTS, k=chance.choice([1, 1, 1, 2])))
        for _ in range(chance.choice([1, 1, 1, 2, 2, 3]))
    )
    prefix = chance.choice(["", "", "", "!", "/", "!/", "**/"])
    return prefix + pattern + chance.choice(["", "", "", "/", "/**", "//", "  ", "\r"])


def random_tree(chance: random.Random, directory: Path, depth: int = 0) -> None:
    directory.mkdir(exist_ok=True)
    for name in chance.sample(NAMES, k=chance.randint(2, 6)):
        if depth < 3 and chance.random() < 0.45:
            random_tree(chance, directory / name, depth + 1)
        else:
            (directory / name).write_text("")
    if depth == 0 or chance.random() < 0.3:
        lines = [random_pattern(chance) for _ in range(chance.randint(1, 6))]
        (directory / ".gitignore").write_text("\n".join(lines) + "\n")


@GIT
@pytest.mark.parametrize("seed", SEEDS)
def test_without_git_the_same_files_are_selected(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    for number in range(5):
        directory = tmp_path / f"{number}"
        random_tree(chance, directory)
        git(directory, "init", "-q")
        expected = git(directory, "ls-files", "-z", "--others", "--exclude-standard")
        with monkeypatch.context() as patch:
            patch.setattr(_project_files, "_listed_by_git", lambda root: None)
            found = [file.path.encode() for file in select(directory)]
        listed = sorted(path for path in expected.split(b"\0") if path)
        patterns = {str(file): file.read_text() for file in directory.rglob(".gitignore")}
        assert found == listed, (seed, number, patterns)


def test_a_pattern_takes_no_exponential_time() -> None:
    started = time.monotonic()
    assert IgnoreFile(b"*a*a*a*a*a*a*a*a*a*a*a*a*b").verdict(b"a" * 250, False) is None
    assert IgnoreFile(b"**/a/**/a/**/a/**/a/**/b").verdict(b"a/" * 120 + b"a", False) is None
    assert time.monotonic() - started < 1
