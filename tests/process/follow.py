#!/usr/bin/python3
"""`--follow`: a report that renews itself while its job runs, and says how the job ended. The job does not notice."""

import contextlib
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request

from harness import expect, expect_equal, kill_all, main, test

FAST = ["--follow", "--every", "0.2", "--format", "json"]


def start(job, command):
    """Without waiting for its end."""
    return subprocess.Popen([str(word) for word in command], env=job.environment(), cwd=job.folder, stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def start_job(job, output, steps):
    options = {"LIBPROFILE_OUTPUT": job.folder / output}
    return start(job, [*job.launcher(2), *job.preloaded([job.example("hydro"), steps, 8], options)])


def parents():
    """By process."""
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            found[int(entry)] = int(open(f"/proc/{entry}/stat").read().rpartition(")")[2].split()[1])
    return found


def kill_job(running):
    """Ranks and launchers, at once: nothing of it can say goodbye."""
    above = parents()
    job = {running.pid}
    while more := {pid for pid, parent in above.items() if parent in job} - job:
        job |= more
    for pid in job:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def documents(text):
    return [json.loads(line) for line in text.splitlines()]


@test
def a_followed_job_is_shown_until_its_profile_is_whole(job):
    plain = job.plain([job.example("hydro"), 3000, 8])
    running = start_job(job, "run", 3000)
    result = job.run([job.tool, "report", job.folder / "run", *FAST], timeout=100)
    found = documents(result.out)
    expect_equal((result.code, found[-1]["follow"]["job"]), (0, "ended"), "the end")
    expect(len(found) > 1 and found[0]["follow"]["job"] == "running", f"{[d['follow'] for d in found]}: the job was not seen while it ran")
    counts = [document["follow"]["iterations"] for document in found]
    expect(counts == sorted(counts) and counts[-1] == 3000, f"iterations: {counts}")
    expect(found[-1]["job"]["complete"], "the last one is of the whole profile")
    out, _ = running.communicate()
    expect_equal(sorted(path.name for path in (job.folder / "run").glob("*.lprof")), ["profile.lprof"], "nothing was written into the folder")
    expect_equal((running.returncode, out.count("\n")), (0, plain.out.count("\n")), "the job's exit code and lines of output")


@test
def a_killed_job_ends_the_following_with_what_is_there(job):
    running = start_job(job, "run", 1000000)
    following = start(job, [job.tool, "diagnose", job.folder / "run", *FAST])
    first = following.stdout.readline()
    expect_equal(json.loads(first)["follow"]["job"], "running", "the job while it runs")
    kill_job(running)
    try:
        out, err = following.communicate(timeout=60)
    finally:
        kill_all()
    expect_equal((following.returncode, documents(out)[-1]["follow"]["job"]), (1, "killed"), "the end")
    expect_equal(err.count("libprofile recover"), 1, f"what to do next: {err}")


class Page:
    """What a page asks the server."""

    def __init__(self, address):
        self.address = address

    def get(self, name):
        with urllib.request.urlopen(self.address + name, timeout=60) as response:
            return response.read().decode()

    def news(self):
        return json.loads(self.get("news"))

    def header(self):
        """Of the newest data, as the page gets them."""
        text = self.get("data")
        return json.loads(text[text.index('id="header">') + len('id="header">'):text.index("</script>")])

    def wait(self, what):
        """Asks what is new, as a page does, until it is so."""
        end = time.monotonic() + 60
        while not what(news := self.news()):
            expect(time.monotonic() < end, f"the last news: {news}")
            time.sleep(0.1)
        return news


@contextlib.contextmanager
def served(job, folder):
    process = start(job, [job.tool, "view", folder, "--serve", "--follow", "--every", "0.2"])
    try:
        yield process, Page(process.stdout.readline().strip())
    finally:
        process.kill()
        process.communicate()


def ended(process, page):
    """Exit code and errors after the page was closed."""
    for name in ("alive", "closed"):
        urllib.request.urlopen(urllib.request.Request(f"{page.address}{name}?page=a", method="POST" if name == "closed" else "GET"), timeout=60)
    process.wait(60)
    return process.returncode, process.stderr.read()


def iterations(header):
    return max((phase.get("iterations") or 0 for phase in header["phases"]), default=0)


@test
def a_served_page_of_a_running_job_gets_its_newest_state(job):
    running = start_job(job, "run", 6000)
    with served(job, job.folder / "run") as (process, page):
        seen, answered = [page.header()], 0
        expect_equal(page.news()["job"], "running", "the job while it runs")
        while not seen[-1]["job"]["complete"]:
            shown = seen[-1]
            page.wait(lambda news: news["snapshot"] > shown["snapshot"])
            # A page that has not renewed itself yet gets answers about the state that it shows.
            phase = next((p for p, one in enumerate(shown["phases"]) if one.get("iterations")), None)
            if phase is not None:
                answered += "values" in json.loads(page.get(f"row?phase={phase}&metric=iteration_time&rank=0&snapshot={shown['snapshot']}"))
            seen.append(page.header())
        news = page.wait(lambda news: news["job"] == "ended")
        last = page.header()
        expect_equal((last["job"]["complete"], iterations(last), news["failure"]), (True, 6000, ""), "the last state")
        counts = [iterations(header) for header in seen]
        expect(counts == sorted(counts) and counts[0] < 6000 and answered > 0, f"iterations: {counts}, {answered} answers about states before")
        try:
            page.get("row?phase=0&metric=iteration_time&rank=0&snapshot=0")
            raise AssertionError("a state that is not kept was answered")
        except urllib.error.HTTPError as error:
            expect(error.code == 410 and "no longer kept" in json.loads(error.read())["error"], f"status {error.code}")
        expect_equal(ended(process, page)[0], 0, "exit code")
    expect_equal((running.communicate()[1].count("libprofile:"), running.returncode), (1, 0), "the job's messages and exit code")
    expect_equal(sorted(path.name for path in (job.folder / "run").glob("*.lprof")), ["profile.lprof"], "nothing was written into the folder")


@test
def a_served_page_says_that_its_job_was_killed(job):
    running = start_job(job, "run", 1000000)
    with served(job, job.folder / "run") as (process, page):
        page.wait(lambda news: news["snapshot"] > 1)
        # Nobody asks: nothing is read.
        time.sleep(1.5)
        before = page.news()["snapshot"]
        time.sleep(1.5)
        expect(page.news()["snapshot"] <= before + 1, "states were read that no page asked for")
        try:
            kill_job(running)
            news = page.wait(lambda news: news["job"] == "killed")
            expect(news["next"].startswith("libprofile recover ") and iterations(page.header()) > 0, f"the last news: {news}")
            code, err = ended(process, page)
        finally:
            kill_all()
    expect_equal((code, err.count("libprofile recover")), (1, 1), f"exit code, and what to do next: {err}")


@test
def following_is_refused_where_it_makes_no_sense(job):
    for command, options, word in (("report", ["--follow", "--format", "csv"], "text and json"), ("diagnose", ["--follow", "--format", "markdown"], "text and json"),
                                   ("report", ["--every", "3"], "--follow"), ("view", ["--follow"], "--serve"), ("view", ["--serve", "--every", "3"], "--follow"), ("diagnose", ["--follow", "--every", "0"], "--every")):
        result = job.run([job.tool, command, job.folder, *options])
        expect(result.code != 0 and word in result.all_err, f"{command} {options}: {result.all_err}")


main()
