#!/usr/bin/python3
"""The test of rooms finds each way in which a file can include what it must not."""

import tempfile
import unittest
from pathlib import Path

from rooms import check

PAGE = """## Rooms

| room | what is in it |
|---|---|
| `libprofile/base/` | low |
| `libprofile/session/` | high |
| `tools/text/` | a tool |

## More
"""
FILES = {
    "docs/contributing.md": PAGE,
    "libprofile/base/clock.hpp": "#pragma once\n",
    "libprofile/base/clock.cpp": '#include "libprofile/base/clock.hpp"\n',
    "libprofile/session/session.hpp": '#include "libprofile/base/clock.hpp"\n#include <vector>\n',
    "tools/text/table.cpp": '#include "libprofile/base/clock.hpp"\n',
    "tests/unit/help.hpp": "#pragma once\n",
}


class Rooms(unittest.TestCase):
    def complaints(self, **changes):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**FILES, **changes.get("files", {})}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check(Path(folder))[0]

    def test_a_tree_in_order_has_no_complaint(self):
        self.assertEqual(self.complaints(), [])

    def test_each_form_of_an_upward_include_is_found(self):
        for line in ('#include "libprofile/session/session.hpp"', "#include <libprofile/session/session.hpp>", '#  include "../session/session.hpp"',
                     '#include "tests/unit/help.hpp"', '#include "libprofile/session/gone.hpp"'):
            for file in ("libprofile/base/clock.hpp", "libprofile/base/list.inc", "libprofile/base/version.hpp.in"):
                self.assertEqual(len([text for text in self.complaints(files={file: line + "\n"}) if file in text and "includes" in text]), 1, (file, line))

    def test_tools_use_only_some_of_the_runtime(self):
        self.assertIn("tools use", self.complaints(files={"tools/text/table.cpp": '#include "libprofile/session/session.hpp"\n'})[0])

    def test_circles_inside_a_room_are_found(self):
        found = self.complaints(files={"libprofile/base/a.hpp": '#include "libprofile/base/b.hpp"\n', "libprofile/base/b.cpp": '#include "libprofile/base/a.hpp"\n',
                                       "libprofile/base/b.hpp": "\n"})
        self.assertEqual(found, ["these include each other: libprofile/base/a -> libprofile/base/b -> libprofile/base/a"])

    def test_files_outside_of_rooms_and_empty_rooms_are_found(self):
        self.assertEqual(self.complaints(files={"libprofile/other/a.hpp": "\n"}), ["libprofile/other/a.hpp lies in no room"])
        self.assertEqual(self.complaints(files={"docs/contributing.md": PAGE.replace("| `tools/text/`", "| `tools/view/` | none |\n| `tools/text/`")}),
                         ["tools/view/ is listed and has no source file"])


if __name__ == "__main__":
    unittest.main()
