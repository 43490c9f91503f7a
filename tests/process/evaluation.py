#!/usr/bin/python3
"""`libprofile evaluate` on real recordings: what it says of a job agrees with the job's own report."""

import json

from harness import expect, expect_equal, main, test


def recorded(job, output, options):
    """The example whose iterations change, and its report."""
    result = job.measured([job.example("adaptive_cpp"), 60, 64], ranks=2, output=output, options=options)
    expect_equal(result.code, 0, "exit code")
    return job.report(output)


def evaluated(job, folder, *options):
    result = job.run([job.tool, "evaluate", job.folder / folder, "--format", "json", *options])
    expect_equal((result.code, result.all_err), (0, ""), "exit code and stderr of evaluate")
    return json.loads(result.out)


@test
def evaluation_of_a_full_recording_agrees_with_the_report(job):
    report = recorded(job, "full", {"LIBPROFILE_CLUSTERS": "off"})
    evaluation = evaluated(job, "full", "--phase", "timestep", "--clusters", "4,1000")
    reference = {method["clusters"]: method for method in evaluation["methods"] if method["method"].startswith("reference")}
    expect_equal(sorted(reference), [4, 1000], "numbers of clusters")
    few, all_of_them = reference[4], reference[1000]
    phase = next(phase for phase in report["phases"] if phase["name"] == "timestep")
    application = evaluation["application"]
    expect_equal(application["iterations"]["most"], max(phase["iterations_per_rank"]), "iterations")
    expect_equal(application["locations"], 2, "locations")
    expect_equal(all_of_them["call_paths"]["event_time"]["largest"], 0, "error with a cluster per iteration")
    expect_equal(all_of_them["whole_iterations"]["time"], {"mean": 0, "maximum": 0}, "error with a cluster per iteration")
    expect_equal(all_of_them["memory"], evaluation["full_recording"], "memory with a cluster per iteration")
    expect_equal(few["phantoms"]["mpi_phantoms"], 0, "phantom MPI call paths")
    expect(few["call_paths"]["event_time"]["mean"] > 0, "4 clusters for 60 iterations have no error")
    expect(few["memory"]["stored_event_bytes"] < evaluation["full_recording"]["stored_event_bytes"], "no memory is saved")
    expect(few["clustering_time"]["mean_ns"] > 0, "clustering takes no time")


@test
def evaluation_of_a_clustered_profile_says_how_to_record(job):
    recorded(job, "clustered", {"LIBPROFILE_CLUSTERS": 8})
    result = job.run([job.tool, "evaluate", job.folder / "clustered"])
    expect_equal((result.code, result.out), (1, ""), "exit code and stdout of evaluate")
    expect_equal(len(result.all_err.splitlines()), 1, "lines on stderr")
    expect("LIBPROFILE_CLUSTERS=off" in result.all_err, "the line does not say what to do")


@test
def estimates_are_as_near_to_the_truth_as_they_say(job):
    """What is printed with "+-" of some iterations of a job, stored as usual, against the recording of every iteration in full."""
    result = job.measured([job.example("hydro"), 60, 8], ranks=2, output="bounds", options={"LIBPROFILE_CLUSTERS": "off"})
    expect_equal(result.code, 0, "exit code")
    for clusters in (1, 8):
        checked = job.run([job.build / "tests/process/replayed_bounds", job.folder / "bounds", clusters])
        print(checked.out)
        expect_equal((checked.code, checked.all_err), (0, ""), "bounds that do not hold")


if __name__ == "__main__":
    main()
