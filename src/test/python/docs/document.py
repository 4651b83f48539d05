"""The fenced blocks of a Markdown document, with what its comments say about them."""

import re
from dataclasses import dataclass, field

FENCE = re.compile(r"^```(\w*)\s*$")
HINT = re.compile(r"^<!-- example(s?): (.+) -->$")
FILE = r"([\w./-]+\.(?:py|toml|txt|json|yaml|csv))"
NAMED_ABOVE = re.compile(rf"`{FILE}`:$")
NAMED_INSIDE = re.compile(rf"# {FILE}(?=$|\b)")


@dataclass
class Block:
    """One fenced block, with what the comment before it says and the output that follows it."""

    language: str
    text: str
    line: int
    hints: "list[str]" = field(default_factory=list)
    file: "str | None" = None
    output: "str | None" = None

    def hint(self, name: str) -> "str | None":
        """What stands behind the name in a hint; "" when nothing does; None without that hint."""
        for hint in self.hints:
            if hint == name or hint.startswith((name + " ", name + ": ")):
                return hint[len(name) :].lstrip(": ")
        return None


def blocks(document: str) -> "list[Block]":
    """The fenced blocks of a Markdown document, in their order."""
    found: list[Block] = []
    hints: list[str] = []  # for the next block
    lasting: list[str] = []  # for all that follow
    above = ""  # the last line of text before a block
    beside = False  # nothing but blank lines since the last block
    lines = document.splitlines()
    i = 0
    while i < len(lines):
        line = lines[i].strip()
        if fence := FENCE.match(lines[i]):
            end = lines.index("```", i + 1)
            text = "\n".join(lines[i + 1 : end])
            if fence[1]:
                named = NAMED_ABOVE.search(above) or NAMED_INSIDE.match(text)
                found.append(Block(fence[1], text, i + 1, hints + lasting, named[1] if named else None))
            elif beside and found and found[-1].output is None and not hints:
                found[-1].output = text
            beside, hints, above, i = bool(fence[1]), [], "", end
        elif hint := HINT.match(line):
            (lasting if hint[1] else hints).append(hint[2])
        elif line:
            beside, above = False, line
        i += 1
    return found


def commands(console: str) -> "list[tuple[str, str]]":
    """What is typed in a block of a console, each with what is shown then."""
    typed = re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (each.partition("\n") for each in typed)]
