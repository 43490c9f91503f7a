#!/usr/bin/env python3
"""Draws the first screen of `libprofile report DIR` in colour as an SVG, for the README.

Usage: scripts/report_picture.py DIR LINES > docs/images/report.svg
"""
import html
import os
import pty
import re
import subprocess
import sys

WIDTH, LINE, CHARACTER = 100, 17, 8.43  # columns; pixels of a line and of a character of 14 px monospace
COLOURS = {31: "#f47067", 32: "#57ab5a", 33: "#c69026", 34: "#539bf5", 35: "#b083f0", 36: "#39c5cf", 90: "#768390"}


def report(folder):
    """The report as a terminal gets it, with colours."""
    tool = os.path.join(os.path.dirname(__file__), "..", "build", "install", "bin", "libprofile")
    master, slave = pty.openpty()
    process = subprocess.Popen([tool, "report", folder, "--no-pager", "--width", str(WIDTH)], stdout=slave,
                               env=dict(os.environ, TERM="xterm-256color", COLUMNS=str(WIDTH)))
    os.close(slave)
    output = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # the other end of the terminal is closed
            break
        if not piece:
            break
        output += piece
    process.wait()
    return output.decode().replace("\r\n", "\n")


def spans(line):
    """(column, text, style) of the pieces of one line."""
    column, style = 0, ""
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if code:
            style = ""
            for number in (int(n or 0) for n in code[1].split(";")):
                if number == 1:
                    style += ' font-weight="bold"'
                elif number == 2:
                    style += ' fill="#768390"'
                elif number in COLOURS:
                    style += f' fill="{COLOURS[number]}"'
        elif piece:
            yield column, piece, style
            column += len(piece)


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    lines = report(folder).split("\n")[:count]
    width, height = round(WIDTH * CHARACTER) + 32, LINE * len(lines) + 28
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">')
    print(f'<rect width="{width}" height="{height}" rx="8" fill="#22272e"/>')
    print('<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" fill="#adbac7">')
    for number, line in enumerate(lines):
        for column, text, style in spans(line):
            if not text.strip():
                continue
            indent = len(text) - len(text.lstrip(" "))
            x = 16 + (column + indent) * CHARACTER
            body = text.strip(" ").replace(" ", "\u00a0")  # browsers would fold adjacent blanks
            # A fixed length keeps the columns straight in any font.
            print(f'<text x="{x:.1f}" y="{28 + number * LINE}"{style} textLength="{len(body) * CHARACTER:.1f}" '
                  f'lengthAdjust="spacingAndGlyphs">{html.escape(body)}</text>')
    print("</g></svg>")


main()
