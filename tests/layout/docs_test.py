#!/usr/bin/python3
"""The test of pages finds each way in which a page can mislead its reader."""

import tempfile
import unittest
from pathlib import Path

from docs import check

FILES = {
    "README.md": "# Name\n\n![picture](docs/a.svg) [page](docs/page.md#two-wordsx) [index](docs/index.md) <https://x.org>\n",
    "NEWS.md": "# News\n",
    "docs/a.svg": "",
    "docs/index.md": "# Index\n\n[page](page.md#two-wordsx) [options](options.md)\n",
    "docs/page.md": "# Page\n\n## Two `words(x)`\n\n`[code](gone.md)`\n\n```\n# no heading\n[code](gone.md)\n```\n",
    "docs/options.md": "x" * 200 + "\n",
}


class Docs(unittest.TestCase):
    def complaints(self, changes):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**FILES, **changes}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(Path(folder))[0]

    def test_good_pages_have_no_complaint(self):
        self.assertEqual(self.complaints({}), [])

    def test_each_fault_is_found(self):
        for name, text, words in (("NEWS.md", "[a](docs/gone.md)\n", "NEWS.md links docs/gone.md: there is no such file"),
                                  ("NEWS.md", "[a](docs/page.md#no-heading)\n", "NEWS.md links docs/page.md#no-heading: there is no such heading"),
                                  ("docs/page.md", FILES["docs/page.md"] + "[a](#gone)\n", "docs/page.md links #gone: there is no such heading"),
                                  ("NEWS.md", "x" * 121 + "\n", "NEWS.md:1: 121 columns"),
                                  ("docs/more.md", "# More\n", "docs/index.md does not link docs/more.md")):
            self.assertEqual(self.complaints({name: text}), [words])


if __name__ == "__main__":
    unittest.main()
