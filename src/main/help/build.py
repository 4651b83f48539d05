"""Builds the help: the pages of the documentation as a site that Roost serves at /help.

    python3 build.py VERSION DIRECTORY

Leaves the site in DIRECTORY. Without a change since the last time that takes no time and no network. Otherwise MkDocs
builds it; pip gets it, with the versions and hashes of `requirements.txt`, once for each version of that file.

Roost is packaged and started without the help when it can't be built: then DIRECTORY has the site of an earlier build,
or a page that says what is wrong, and the next run tries again.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCES = Path(__file__).resolve().parent
WORK = ROOT / "target/help"
# Pages and files from other places than docs/, and where the site has them.
ELSEWHERE = {
    "README.md": "about.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "LICENSE": "LICENSE.txt",
    "bench/README.md": "benchmark.md",
    "sdk/python/README.md": "sdk.md",
    "src/main/resources/web/public/static/icon.svg": "assets/icon.svg",
    "src/main/help/roost.css": "assets/roost.css",
    "src/main/help/roost.js": "assets/roost.js",
}
# Of the theme, what nobody needs: other languages' search, what only browsers' debuggers read, and a map of the site
# with addresses that depend on the host.
SUPERFLUOUS = ("assets/javascripts/lunr", "**/*.map", "sitemap.xml*")
INSTALL_SECONDS = 300


class NotBuilt(Exception):
    """The site could not be built; the message says why."""


def main(version: str, directory: Path) -> None:
    """Builds the site when something has changed; says so when it can't."""
    files = sources()
    key = digest(version, files)
    made = WORK / "key"
    if (directory / "index.html").exists() and made.exists() and made.read_text(encoding="utf-8") == key:
        return
    made.unlink(missing_ok=True)
    try:
        stage(files)
        site = build(version, tools())
    except (NotBuilt, OSError, subprocess.SubprocessError) as e:
        print(f"The help was not built, so /help has none or an old one: {e}", file=sys.stderr)
        if not (directory / "index.html").exists():
            explain(directory, str(e))
        return
    shutil.rmtree(directory, ignore_errors=True)
    directory.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(site, directory)
    made.write_text(key, encoding="utf-8")


def sources() -> dict[str, str]:
    """The files of the site: path in the repository, path among the pages."""
    docs = {
        path.relative_to(ROOT).as_posix(): path.relative_to(ROOT / "docs").as_posix()
        for path in sorted((ROOT / "docs").rglob("*"))
        if path.is_file()
    }
    return {**docs, **ELSEWHERE}


def digest(version: str, files: dict[str, str]) -> str:
    """Changes with anything that the site depends on."""
    found = hashlib.sha256(f"{version}\n{sys.version}\n".encode())
    for path in sorted({*(ROOT / file for file in files), *(file for file in SOURCES.rglob("*") if file.is_file())}):
        found.update(f"{path.relative_to(ROOT)}\n".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def stage(files: dict[str, str]) -> None:
    """Copies the configuration and all pages, so that links between pages fit the new places."""
    pages = WORK / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    for source, name in files.items():
        target = pages / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".md"):
            target.write_text(page(source, files), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / source, target)
    configuration = (SOURCES / "mkdocs.yml").read_text(encoding="utf-8")
    decisions = [name for name in sorted(files.values()) if re.match(r"decisions/\d", name)]
    configuration = re.sub(
        r"^( *- )decisions/\*\.md$",
        lambda line: "\n".join(line[1] + name for name in decisions),
        configuration,
        flags=re.M,
    )
    (WORK / "mkdocs.yml").write_text(configuration, encoding="utf-8")


def page(source: str, files: dict[str, str]) -> str:
    """A page's text with its links as the site has them, and without comments."""
    text = (ROOT / source).read_text(encoding="utf-8")
    # Blocks and spans of code stay as they are.
    parts = re.split(r"(^(?:> )?```.*?^(?:> )?```$|`[^`\n]+`)", text, flags=re.DOTALL | re.MULTILINE)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(\]\()([^)\s:#]+)(#[^)\s]*)?(\))", lambda link: moved(link, source, files), parts[i])
        parts[i] = re.sub(r"<!--.*?-->\n?", "", parts[i], flags=re.DOTALL)
    # Whoever searches wants to know how something is used, before why it is so and since when.
    last = files[source].startswith("decisions/") or source == "CHANGELOG.md"
    return ("---\nsearch:\n  boost: 0.2\n---\n" if last else "") + "".join(parts)


def moved(link: re.Match[str], source: str, files: dict[str, str]) -> str:
    """A link in Markdown, from where the site has the page."""
    target = os.path.normpath(os.path.join(os.path.dirname(source), link[2]))
    if target not in files:
        raise NotBuilt(f"{source} links to {link[2]}, which the help doesn't have")
    place = os.path.relpath(files[target], os.path.dirname(files[source]) or ".")
    return f"{link[1]}{place}{link[3] or ''}{link[4]}"


def tools() -> Path:
    """The directory with MkDocs; filled when it isn't there or the pinned versions have changed."""
    pinned = SOURCES / "requirements.txt"
    key = hashlib.sha256(pinned.read_bytes() + sys.version.encode()).hexdigest()[:16]
    directory = WORK / f"tools-{key}"
    if directory.exists():
        return directory
    draft = WORK / "tools.new"
    shutil.rmtree(draft, ignore_errors=True)
    # No virtual environment: Debian's Python can't make one without another package.
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    install += ["--no-compile", "--only-binary=:all:", "--require-hashes", "--retries=1", "--target", draft]
    run([*install, "-r", pinned], "pip", {"PIP_ROOT_USER_ACTION": "ignore"})
    draft.rename(directory)
    return directory


def build(version: str, libraries: Path) -> Path:
    """The directory with the site."""
    site = WORK / "site"
    shutil.rmtree(site, ignore_errors=True)
    command = [sys.executable, "-m", "mkdocs", "--quiet", "build", "--strict", "-f", WORK / "mkdocs.yml", "-d", site]
    # Otherwise the theme advertises its successor.
    environment = {"PYTHONPATH": str(libraries), "ROOST_PRODUCT": f"Roost {version}", "NO_MKDOCS_2_WARNING": "true"}
    run(command, "MkDocs", environment)
    for pattern in SUPERFLUOUS:
        for path in site.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in site.rglob("*.html"):
        text = accessible(without_inline(path.read_text(encoding="utf-8"), site))
        path.write_text(text, encoding="utf-8")
    return site


def run(command: list[object], name: str, environment: dict[str, str]) -> None:
    """Runs a program; its output is shown only when it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    if done.returncode:
        raise NotBuilt(f"{name} ended with status {done.returncode}:\n{done.stdout.strip()}")


def without_inline(text: str, site: Path) -> str:
    """Moves scripts out of a page, for a Content-Security-Policy that allows none inline."""

    def to_file(script: re.Match[str]) -> str:
        name = f"assets/javascripts/inline.{hashlib.sha256(script[1].encode()).hexdigest()[:8]}.min.js"
        (site / name).write_text(script[1], encoding="utf-8")
        return f'<script src="/help/{name}"></script>'

    text = re.sub(r"<script>(.*?)</script>", to_file, text, flags=re.DOTALL)
    return re.sub(r'\s*<link rel="canonical"[^>]*>', "", text)


def accessible(text: str) -> str:
    """What screen readers miss in the theme and in Markdown: the search's name; and heads of tables that are empty."""
    text = text.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )
    text = re.sub(r"<thead>\s*<tr>\s*(?:<th></th>\s*)+</tr>\s*</thead>", "", text)
    return text.replace("<th></th>", "<td></td>")


def explain(directory: Path, reason: str) -> None:
    """A page in place of the help, for every address."""
    directory.mkdir(parents=True, exist_ok=True)
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Roost: help</title><h1>No help</h1>'
        "<p>This Roost was built without its help. The same pages are in the directory <code>docs</code> of its"
        f" source. This went wrong:</p><pre>{html.escape(reason)}</pre></html>\n"
    )
    for name in ("index.html", "404.html"):
        (directory / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
