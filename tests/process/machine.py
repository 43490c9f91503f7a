#!/usr/bin/python3
"""`libprofile run` asks hwloc for the machine before the program starts, in a process of its own; the report shows it."""

import csv
import json
import os
import shutil
import xml.etree.ElementTree as xml
from pathlib import Path

from harness import expect, expect_equal, main, read_again, test

# Two packages with two NUMA nodes each, of four cores that share an L3 cache and have two hardware threads.
SYNTHETIC = "package:2 l3:2 [numa(memory=4294967296)] l2:2 core:2 pu:2"


def measured(job, output, env=None, ranks=2):
    folder = job.folder / "temporary"
    folder.mkdir(exist_ok=True)
    settings = [f"{name}={value}" for name, value in {"TMPDIR": folder, **(env or {})}.items()]  # launchers have a folder of their own
    command = ["env", *settings, job.tool, "run", "--output", job.folder / output, "--", job.program("counters"), "waits", 4, 1]
    result = job.run([*job.launcher(ranks), *command])
    expect_equal((result.code, len(result.exit_lines)), (0, 1), f"exit code and lines of {output}")
    expect("hwloc" not in result.all_err, f"said: {result.all_err}")
    return folder


def machine_of(job, output):
    result = job.run([job.tool, "report", job.folder / output, "--machine", "--format", "json"])
    return json.loads(result.out) if result.code == 0 else result.all_err


def counts(rows):
    found = {}
    for row in rows:
        found[row["type"]] = found.get(row["type"], 0) + 1
    return found


@test
def the_machine_is_the_one_that_hwloc_sees(job):
    folder = measured(job, "own")
    said = machine_of(job, "own")
    rows = said["machine"]
    numbers = sorted(row["number"] for row in rows if row["type"] == "processor")
    expect_equal(numbers, list(range(os.cpu_count())), "processors")
    ranks = [row["ranks"] for row in rows if row["type"] == "machine"]
    expect_equal(ranks, ["ranks 0-1"], "ranks of the machine")
    places = {rank["rank"]: rank["threads"][0]["last"] for rank in job.report("own")["places"]["ranks"]}
    for rank, processor in places.items():
        row = next(row for row in rows if row["type"] == "processor" and row["number"] == processor)
        expect(str(rank) in row["ranks"] or row["ranks"] == "ranks 0-1", f"rank {rank} was last seen on {processor}: {row}")
    # It is asked once; a rank of each machine has the answer; a second reader finds the same.
    files = [path for path in folder.iterdir() if path.name.startswith("libprofile-machine-")]
    expect_equal(len(files), 1, f"files: {files}")
    before = files[0].stat().st_mtime_ns
    measured(job, "again")
    expect_equal(files[0].stat().st_mtime_ns, before, "time of the file after another job")
    expect_equal(machine_of(job, "again")["machine"][0]["host"], rows[0]["host"], "host")
    again = read_again(job, job.folder / "own" / "profile.lprof")
    machines = again["machines"]
    expect_equal([one["rank"] for one in machines], [0], "ranks that have the machine")
    expect_equal([(one["type"], one["size"] or None) for one in machines[0]["objects"]], [(row["type"], row["size"]) for row in rows], "objects for a second reader")


@test
def synthetic_machines_are_shown_with_all_that_they_have(job):
    measured(job, "synthetic", {"HWLOC_SYNTHETIC": SYNTHETIC})
    said = machine_of(job, "synthetic")
    rows = said["machine"]
    expect_equal(counts(rows), {"machine": 1, "package": 2, "L3 cache": 4, "NUMA node": 4, "L2 cache": 8, "core": 16, "processor": 32}, "objects")
    expect(all(row["size"] == 4 * 2**30 for row in rows if row["type"] == "NUMA node"), f"memory of nodes: {[row for row in rows if row['type'] == 'NUMA node']}")
    depths = {row["type"]: row["depth"] for row in rows}
    expect(depths["package"] < depths["L3 cache"] <= depths["L2 cache"] < depths["core"] < depths["processor"], f"depths: {depths}")
    text = job.run([job.tool, "report", job.folder / "synthetic", "--machine"]).out
    expect("alike" in text and "L3 cache" in text and "ranks 0-1" in text, text)
    drawn = job.run([job.tool, "report", job.folder / "synthetic", "--machine", "--format", "svg"]).out
    texts = [element.text for element in xml.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    for row in rows:
        if row["type"] in ("package", "core"):
            expect(f"{row['type']} {row['number']}" in texts, f"{row['type']} {row['number']} is not drawn: {texts}")
    expect_equal((texts.count("L2 4.00 MiB"), texts.count("NUMA node 3, 4.00 GiB")), (8, 1), f"caches and nodes that are drawn: {texts}")
    expect("rank 0" in texts and "rank 1" in texts or "ranks 0-1" in texts, f"ranks that are drawn: {texts}")
    table = list(csv.DictReader(job.run([job.tool, "report", job.folder / "synthetic", "--machine", "--format", "csv"]).out.splitlines()))
    expect_equal(len(table), len(rows), "rows of the CSV")


@test
def recorded_machines_have_their_distances(job):
    job.need("lstopo-no-graphics")
    recorded = job.folder / "four.xml"
    result = job.run(["lstopo-no-graphics", "--input", "package:2 numa:2 core:4 pu:2", "--of", "xml", recorded])
    expect_equal(result.code, 0, "exit code of lstopo")
    # What a firmware would tell, in hwloc's own form.
    text = recorded.read_text()
    values = [10, 12, 20, 22, 12, 10, 22, 20, 20, 22, 10, 12, 22, 20, 12, 10]
    matrix = '<distances2 type="NUMANode" nbobjs="4" kind="5" name="NUMALatency" indexing="os"><indexes length="8">0 1 2 3 </indexes>'
    spelled = " ".join(map(str, values)) + " "
    recorded.write_text(text.replace("</topology>", f'{matrix}<u64values length="{len(spelled)}">{spelled}</u64values></distances2></topology>'))
    measured(job, "recorded", {"HWLOC_XMLFILE": recorded})
    said = machine_of(job, "recorded")
    expect_equal(counts(said["machine"])["NUMA node"], 4, "NUMA nodes")
    expect_equal([[row[f"to_{node}"] for node in range(4)] for row in said["distances"]], [values[4 * row:4 * row + 4] for row in range(4)], "distances")


@test
def a_job_without_the_machine_is_as_before(job):
    """No file can be written, hwloc is broken, the file is damaged or another machine's, or the library was preloaded by hand."""
    closed = job.folder / "missing"
    measured(job, "unwritable", {"TMPDIR": closed})
    broken = job.write("broken.xml", "<topology><object")
    measured(job, "broken", {"HWLOC_XMLFILE": broken})
    folder = measured(job, "replaced", {"HWLOC_SYNTHETIC": "core:7 pu:1"})
    for path in folder.glob("libprofile-machine-*"):
        path.write_bytes(b"LPMACH2\nrubbish")
    measured(job, "replaced_again", {"HWLOC_SYNTHETIC": "core:7 pu:1"})
    folder = measured(job, "elsewhere", {"HWLOC_SYNTHETIC": "core:5 pu:1"})
    boot = Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
    moved = [path for path in folder.glob("libprofile-machine-*") if boot in path.read_bytes()]
    expect(moved, "no file has the boot_id of this machine")
    for path in moved:
        path.write_bytes(path.read_bytes().replace(boot, boot[::-1]))
    measured(job, "elsewhere_again", {"HWLOC_SYNTHETIC": "core:5 pu:1"})
    job.measured([job.program("counters"), "waits", 4, 1], output="by_hand")
    for output in ("unwritable", "replaced_again", "elsewhere_again", "by_hand"):
        said = machine_of(job, output)
        expect(isinstance(said, str) and "does not have the machine" in said, f"{output}: {said}")
    refused = job.run([job.tool, "report", job.folder / "by_hand", "--machine", "--rank", "1"])
    expect(refused.code == 2 and "--machine" in refused.all_err, f"--machine with another choice: {refused.all_err}")
    for more in ([], ["--tasks"]):
        refused = job.run([job.tool, "report", job.folder / "by_hand", *more, "--format", "svg"])
        expect(refused.code == 2 and "add --machine" in refused.all_err and not refused.out, f"a picture of something else, {more}: {refused.all_err}")


@test
def numbers_that_no_reader_takes_are_not_told(job):
    measured(job, "numbers", {"HWLOC_SYNTHETIC": "core:2 pu:2(indexes=0,1048575,1048576,1048577)"})
    said = machine_of(job, "numbers")
    expect_equal([row["number"] for row in said["machine"] if row["type"] == "processor"], [0, 1048575, None, None], "numbers of processors")
    expect("malformed" not in job.run([job.tool, "report", job.folder / "numbers"]).all_err, "the report says that something is malformed")


@test
def where_hwloc_hangs_it_is_asked_once_an_hour(job):
    folder = job.folder / "temporary"
    folder.mkdir()
    pipe = job.folder / "pipe"
    os.mkfifo(pipe)
    command = [job.tool, "run", "--output", job.folder / "hangs", "--", "true"]
    env = {"TMPDIR": folder, "HWLOC_XMLFILE": pipe, "LIBPROFILE_MPI": "no"}
    first, second = (job.run(command, env=env) for _ in range(2))
    expect_equal((first.code, second.code), (0, 0), "exit codes")
    expect(first.seconds >= 2, f"the first start took {first.seconds} s")
    expect(second.seconds < 1.5, f"the second start took {second.seconds} s")
    files = list(folder.glob("libprofile-machine-*"))
    expect_equal([path.stat().st_size for path in files], [0], f"sizes of {files}")
    os.utime(files[0], (0, 0))
    third = job.run(command, env=env)
    expect(third.seconds >= 2, f"the start after an hour took {third.seconds} s")
    fourth = job.run(command, env=env)
    expect(fourth.seconds < 1.5, f"the start after that took {fourth.seconds} s")


@test
def the_child_that_asks_leaves_no_signal_and_no_resources(job):
    """A launcher blocks SIGCHLD; the program asks what its children have used."""
    folder = job.folder / "temporary"
    folder.mkdir()
    asks = ("import resource, signal; used = resource.getrusage(resource.RUSAGE_CHILDREN); "
            "print(signal.sigpending(), used.ru_maxrss, used.ru_minflt, signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL)")
    blocks = "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD]); os.execv(sys.argv[1], sys.argv[1:])"
    for run in ([job.tool, "run", "--output", job.folder / "python", "--", "/usr/bin/python3", "-c", asks], ["/usr/bin/python3", "-c", asks]):
        result = job.run(["/usr/bin/python3", "-c", blocks, *run], env={"TMPDIR": folder, "LIBPROFILE_MPI": "no"})
        expect_equal(result.out.strip(), "set() 0 0 True", "pending signals, resources of children, whether SIGCHLD does what it does by default")
    expect([path for path in folder.iterdir() if path.stat().st_size > 0], "hwloc was not asked")


@test
def the_program_has_nothing_of_hwloc_nor_of_the_process_that_asked(job):
    folder = job.folder / "temporary"
    folder.mkdir()
    shell = 'grep -c hwloc /proc/$$/maps; grep -c hwloc /proc/self/maps; ls /proc/self/fd | wc -l; cat /proc/self/task/*/children | wc -w; ps -o pid= --ppid $$ | wc -l'
    expected = job.run(["sh", "-c", shell], env={"TMPDIR": folder}).out
    result = job.run([job.tool, "run", "--output", job.folder / "shell", "--", "sh", "-c", shell], env={"TMPDIR": folder, "LIBPROFILE_MPI": "no"})
    expect_equal(result.out, expected, "maps with hwloc, open files and children")
    expect(any(path.name.startswith("libprofile-machine-") for path in folder.iterdir()), "hwloc was not asked")
    shutil.rmtree(folder)


main()
