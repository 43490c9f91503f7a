"""Causes that a test makes up, in place of those of a page."""

import json


def put_causes(page, causes, next_command):
    """Each cause has `sentence`, `iterations` and `ranks`, and is of the phase with iterations unless it has a `phase`. Returns the page's
    header and that phase's number."""
    text = page.read_text()
    head = text.index('id="header">') + len('id="header">')
    tail = text.index("</script>", head)
    header = json.loads(text[head:tail])
    phase = next(p for p, one in enumerate(header["phases"]) if one.get("iterations"))
    common = {"share": "7.5 %", "evidence": ["seen"], "gain": "saves 1 s", "next": next_command, "phase": phase}
    header["causes"]["list"] = [{**common, **cause} for cause in causes]
    page.write_text(text[:head] + json.dumps(header).replace("<", "\\u003c") + text[tail:])
    return header, phase
