"""A profile with a trace says the same after it was moved to where its program is not."""

import json
import shutil
import sys

from harness import expect, expect_equal, main, test

TRACE = {"LIBPROFILE_TRACE": "1", "LIBPROFILE_SAMPLE": "1kHz"}
CONTEXTS = """
import sys
sys.path.insert(0, sys.argv[1])
import libprofile
p = libprofile.open("profile")
print(p.contexts())
print([p.trace(rank) for rank in range(2)])
"""


def said(job, folder):
    """What is said of `folder`/profile."""
    commands = {"diagnose": [job.tool, "diagnose", "profile", "--format", "json"],
                "text": [job.tool, "diagnose", "profile", "--width", 120],
                "report": [job.tool, "report", "profile", "--format", "json", "--trace", "--series"],
                "page": [job.tool, "view", "profile", "--output", job.folder / "view.html"],
                "python": [sys.executable, "-B", "-c", CONTEXTS, job.build / "python"]}
    out = {}
    for name, command in commands.items():
        result = job.run(command, cwd=folder)
        expect_equal(result.code, 0, f"exit code of {name}")
        out[name] = result.out
    out["page"] = (job.folder / "view.html").read_bytes()
    return out


def loops_of(diagnosis):
    return [loop["source"] for loop in json.loads(diagnosis)["trace"]["loops"]]


@test
def a_profile_says_the_same_without_its_program(job):
    home, away, bare = (job.folder / name for name in ("home", "away", "bare"))
    home.mkdir()
    program = shutil.copy2(job.program("nested"), home / "app")
    result = job.measured([program, "60"], output="home/profile", options=TRACE)
    expect_equal((result.code, result.complaints), (0, []), "exit code and complaints")
    shutil.copytree(home, bare)
    before = said(job, home)
    expect_equal(said(job, home), before, "what is said the second time")
    lines = loops_of(before["diagnose"])
    expect(len(lines) >= 2 and None not in lines[:2], f"loops of the program: {lines}")

    reader = job.run([sys.executable, "-B", job.source / "tests/format/read_profile.py", home / "profile/names.lprof", "--scan"])
    expect_equal(reader.code, 0, "exit code of the second reader")
    modules = json.loads(reader.out)["code_loops"]
    kept = set()
    for function in (function for module in modules for function in module["functions"] if function["understood"]):
        names = [f"{loop['file']}:{loop['line']}" for loop in function["loops"]]
        kept.update((name, names[loop["parent"]] if loop["parent"] >= 0 else None) for name, loop in zip(names, function["loops"]))
    expect(set(lines[:2]) <= {name for name, _ in kept}, f"{lines[:2]} are kept: {kept}")
    expect(any(name in lines and around in lines for name, around in kept), f"a loop in another: {kept}")

    shutil.move(home, away)
    (away / "app").unlink()
    for name, text in said(job, away).items():
        expect(text == before[name], f"{name} is different where the program is not: {text[-2000:]} instead of {before[name][-2000:]}")
    (bare / "app").unlink()
    expect(loops_of(said(job, bare)["diagnose"]) != lines, "loops without the program and without what was kept")


if __name__ == "__main__":
    main()
