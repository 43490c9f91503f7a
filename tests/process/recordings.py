"""Stored recordings (tests/recordings) can be read, and hold every iteration by itself."""

import lzma

from harness import expect, expect_equal, main, test

INNERMOST = {"hydro": "timestep", "particles": "timestep", "solver": "solver", "adaptive": "timestep",
             "crack": "timesteps", "deposit": "timesteps"}


@test
def recordings_hold_every_iteration(job):
    stored = sorted((job.source / "tests/recordings").glob("*.lprof.xz"))
    expect_equal([path.name.partition(".")[0] for path in stored], sorted(INNERMOST), "recordings")
    for path in stored:
        name = path.name.partition(".")[0]
        file = job.folder / f"{name}.lprof"
        file.write_bytes(lzma.decompress(path.read_bytes()))
        report = job.report(file)
        expect_equal(report["job"]["complete"], True, f"completeness of {name}")
        phases = {phase["name"]: phase for phase in report["phases"]}
        phase = phases.get(INNERMOST[name])
        expect(phase is not None, f"{name} has no loop {INNERMOST[name]}: {list(phases)}")
        expect(phase["iterations"] >= 100, f"{name} has {phase['iterations']} iterations")
        expect_equal(phase["clusters_per_rank"], phase["iterations_per_rank"], f"clusters of {name}")


if __name__ == "__main__":
    main()
