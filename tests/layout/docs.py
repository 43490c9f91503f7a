#!/usr/bin/python3
"""Every relative link and anchor of README.md, NEWS.md and docs/*.md leads somewhere, no line of these pages is over 120 columns, and
docs/index.md links every page.

Usage: docs.py SOURCE_FOLDER [PAGE...]. With pages, such as docs/view.md, only these are checked."""

import re
import sys
from pathlib import Path

WIDTH = 120
GENERATED = {"docs/options.md"}  # a table with a row for each option
LINK = re.compile(r"\]\(([^()\s]+)\)")
FENCE = re.compile(r"^\s*```")
HEADING = re.compile(r"^#+ (.*)")
CODE = re.compile(r"`[^`]*`")


def prose(text):
    """The text without blocks of code, and without code inside lines, where brackets are no links."""
    lines, inside = [], False
    for line in text.splitlines():
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            lines.append(line)
    return "\n".join(lines)


def anchors(text):
    """The names by which a heading is linked, formed as GitHub does."""
    titles = [match[1] for match in map(HEADING.match, prose(text).splitlines()) if match]
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def links(text):
    return [target for target in LINK.findall(CODE.sub("", prose(text))) if "://" not in target]


def check_page(root, page):
    text = (root / page).read_text()
    wide = [] if page in GENERATED else [(n, len(line)) for n, line in enumerate(text.splitlines(), 1) if len(line) > WIDTH]
    complaints = [f"{page}:{number}: {columns} columns" for number, columns in wide]
    for link in links(text):
        name, _, anchor = link.partition("#")
        target = (root / page).parent / name if name else root / page
        if not target.is_file():
            complaints.append(f"{page} links {link}: there is no such file")
        elif anchor and anchor not in anchors(target.read_text()):
            complaints.append(f"{page} links {link}: there is no such heading")
    return complaints


def check(root, chosen=()):
    """Complaints, and the number of pages."""
    all_pages = ["README.md", "NEWS.md", *sorted(f"docs/{path.name}" for path in (root / "docs").glob("*.md"))]
    pages = list(chosen) or all_pages
    complaints = [complaint for page in pages for complaint in check_page(root, page)]
    if "docs/index.md" in pages:
        listed = {f"docs/{link.partition('#')[0]}" for link in links((root / "docs/index.md").read_text())}
        complaints += [f"docs/index.md does not link {page}" for page in all_pages[2:] if page not in listed | {"docs/index.md"}]
    return complaints, len(pages)


if __name__ == "__main__":
    found, count = check(Path(sys.argv[1]), sys.argv[2:])
    print("\n".join(found) or f"{count} pages: links lead somewhere, no line is over {WIDTH} columns, docs/index.md has all")
    sys.exit(1 if found else 0)
