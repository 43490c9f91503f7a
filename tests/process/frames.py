"""Frames in Python against literal pandas code of the definitions, on random frames and on a profile."""

import importlib
import sys

import numpy as np

from harness import Skip, expect, expect_equal, main, test

# Ranks with different numbers of iterations, recursion, iterations in iterations, call paths that some iterations and ranks lack.
RAGGED = """
#include <libprofile.h>
#include <mpi.h>
static volatile double sink;
static __attribute__((noinline)) void burn(int amount) { for (int i = 0; i < amount * 1000; ++i) sink += i; }
static __attribute__((noinline)) void talk(int rank) {
    int out = rank, in;
    MPI_Sendrecv(&out, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sink += in;
}
static __attribute__((noinline)) int descend(int depth, int rank) {
    burn(20);
    talk(rank);
    return depth == 0 ? 1 : 1 + descend(depth - 1, rank);
}
int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 30 + 12 * rank; ++i) {
        profile_iteration_begin("step");
        if (i % 5 != rank) sink += descend(i % 3, rank);
        for (int k = 0; k < i % 4; ++k) {
            profile_iteration_begin("inner");
            burn(10 * (rank + 1));
            talk(rank);
            profile_iteration_end("inner");
        }
        profile_iteration_end("step");
    }
    MPI_Finalize();
}
"""


def package(job):
    sys.path.insert(0, str(job.build / "python"))
    return importlib.import_module("libprofile")


def pandas():
    try:
        return importlib.import_module("pandas")
    except ImportError:
        raise Skip("pandas is not installed")


def random_frame(libprofile, random):
    nodes, ranks, threads = int(random.integers(1, 14)), int(random.integers(1, 7)), int(random.integers(1, 3))
    parents = [0] + [int(random.integers(0, n)) for n in range(1, nodes)]
    values = random.integers(0, 50, (nodes, ranks * threads)).astype(float)
    values[random.random(values.shape) < 0.2] = np.nan
    return libprofile.make_frame([(parent, f"f{random.integers(0, 6)}") for parent in parents],
                                 [(rank, thread) for rank in range(ranks) for thread in range(threads)], {"time": values, "n": 2 * values})


@test
def sums_differences_and_ratios_of_frames_are_those_of_their_values(job):
    libprofile = package(job)
    random = np.random.default_rng(5)
    for _ in range(300):
        a, b = random_frame(libprofile, random), random_frame(libprofile, random)
        both = libprofile.unify([a, b]).frames
        places = sorted({(place.rank, place.thread) for frame in both for place in frame.threads})

        def dense(frame, metric):
            result = np.full((frame.node_count, len(places)), np.nan)
            result[:, [places.index((place.rank, place.thread)) for place in frame.threads]] = frame.values(metric, "thread")
            return result
        for sign, found in ((1, a + b), (-1, a - b)):
            expect_equal([(place.rank, place.thread) for place in found.threads], places, "places")
            for metric in ("time", "n", "time (inc)"):
                x, y = (dense(frame, metric) for frame in both)
                wanted = np.where(np.isnan(x) & np.isnan(y), np.nan, np.nan_to_num(x) + sign * np.nan_to_num(y))
                np.testing.assert_array_equal(found.values(metric, "thread"), wanted)
        ratios = a / b
        for metric in ("time", "n (inc)"):
            x, y = (frame.values(metric, "thread") for frame in both)
            for node in range(both[0].node_count):
                is_there = not np.isnan(x[node]).all() and np.nansum(y[node]) > 0
                wanted = np.nansum(x[node]) / np.nansum(y[node]) if is_there else np.nan
                np.testing.assert_allclose(ratios[metric][node], wanted, rtol=1e-12)
    three = [random_frame(libprofile, random) for _ in range(3)]
    mean = sum(three) / 3
    np.testing.assert_allclose(mean.sums("time (inc)")[0], np.mean([frame.sums("time (inc)")[0] for frame in three]))
    for make in (lambda: a + 1, lambda: a / 0, lambda: a * "2", lambda: 1 / a):
        try:
            make()
            expect(False, "a frame and what is none")
        except TypeError:
            pass
    other = libprofile.make_frame([(0, "f0")], [(0, 0)], {"faults": np.ones((1, 1))}, "count")
    for make in (lambda: a + other, lambda: a / other):
        try:
            make()
            expect(False, "frames without a common metric")
        except ValueError as error:
            expect("no metric in common" in str(error), str(error))


@test
def analyses_equal_literal_pandas_code_on_random_frames(job):
    libprofile, pd = package(job), pandas()
    random = np.random.default_rng(22)
    for _ in range(1000):
        frame = random_frame(libprofile, random)
        table = frame.dataframe().reset_index()
        for metric in ("time", "time (inc)"):
            # Chopper, Algorithm 1, with threads added up and 0 where a rank never was.
            rows = table.groupby(["node", "rank"])[metric].sum().unstack()
            present = table.dropna(subset=[metric]).groupby("node")["rank"].nunique()
            rows = rows.loc[present.index]
            got = frame.load_imbalance(metric, verbose=True).dataframe()
            expect_equal(sorted(got.index), sorted(rows.index), "nodes")
            got = got.loc[rows.index]
            mean = rows.mean(axis=1)
            for name, wanted in (("mean", mean), ("max", rows.max(axis=1)), ("imbalance", rows.max(axis=1) / mean), ("present", present)):
                np.testing.assert_allclose(got[f"{metric}.{name}"].astype(float), wanted.astype(float))
            for node, row in rows.iterrows():
                np.testing.assert_allclose(got.loc[node, metric + ".percentiles"], np.percentile(row, [0, 25, 50, 75, 100]))
                top = row.sort_values(ascending=False, kind="stable").index[:5].tolist()
                expect_equal([rank for rank in got.loc[node, metric + ".ranks"] if rank >= 0], top, f"highest ranks of {row.tolist()}")
                if row.min() != row.max():
                    expect_equal(got.loc[node, metric + ".hist"].tolist(), np.histogram(row, 10)[0].tolist(), "bins")
        flat = frame.flat_profile("time").dataframe().set_index("name")["time"]
        wanted = table.groupby(table["name"].astype(str))["time"].sum()
        expect_equal({str(name): value for name, value in flat.items()}, dict(wanted), "flat profile")
        names, parents = [str(name) for name in frame.nodes()["name"]], frame.parents
        inclusive = frame.sums("time (inc)")
        outermost = {}
        for node, name in enumerate(names):
            if name not in frame_path(names, parents, node)[:-1]:
                outermost[name] = outermost.get(name, 0) + inclusive[node]
        got = frame.flat_profile("time")
        expect_equal(dict(zip(map(str, got["name"]), got["time (inc)"])), outermost, "inclusive time, recursion counted once")
        path = frame.hot_path()["node"].tolist()
        expect_equal(path, literal_hot_path(parents, inclusive), "hot path")


def compare_imbalance_of_hatchet(frame, table, metric, threshold):
    """Each row of a node counts, be it a rank's or a thread's; but in a bin of the histogram the ranks do."""
    got = frame.load_imbalance(metric, verbose=True, compat="hatchet").dataframe()
    expect_equal(sorted(got.index), list(range(frame.node_count)), "nodes")
    for node, rows in table.groupby("node"):
        low, high = rows[metric].min(), rows[metric].max()
        width = (high - low) / 10
        edges = [low + i * width for i in range(10)] + [high]
        bins = [rows[(rows[metric] > edges[i]) & (rows[metric] <= edges[i + 1])]["rank"].nunique() for i in range(10)]
        bins[0] += rows[rows[metric] == low]["rank"].nunique()
        expect_equal(got.loc[node, metric + ".hist"].tolist(), bins if width != 0 else [len(rows)] * 10, f"bins of {rows[['rank', metric]].values.tolist()}")
        np.testing.assert_allclose(got.loc[node, metric + ".percentiles"], np.percentile(rows[metric], [0, 25, 50, 75, 100]))
        np.testing.assert_allclose(got.loc[node, [f"{metric}.{name}" for name in ("mean", "max", "imbalance")]].astype(float),
                                   [rows[metric].mean(), high, high / rows[metric].mean() if high else np.nan])
        top = rows.sort_values(metric, ascending=False, kind="stable")["rank"].tolist()[:5]
        expect_equal([rank for rank in got.loc[node, metric + ".ranks"] if rank >= 0], top, "highest rows")
    most = table.groupby("node")[metric].max()
    kept = frame.load_imbalance(metric, threshold, compat="hatchet")["node"].tolist()
    expect_equal(sorted(kept), most.index[most > threshold * most.max()].tolist(), f"nodes above {threshold}")


# What the statements of Hatchet 1.4.0 (hatchet/chopper.py: load_imbalance with verbose and a threshold of 0.1, hot_path, flat_profile) gave for the
# frame below, with pandas 1.5.3 and numpy 1.24.2: node, mean, max, imbalance, ranks, bins, percentiles.
HATCHETS_IMBALANCE = {
    "time": [(4, 42.833333333333336, 80, 1.8677042801556418, [2, 0, 2, 0, 1], [1, 0, 2, 0, 1, 0, 0, 1, 0, 1], [11, 29.25, 37.5, 57.75, 80]),
             (2, 17.333333333333332, 40, 2.307692307692308, [1, 0, 0, 2, 1], [2, 0, 0, 1, 1, 0, 0, 0, 0, 1], [3, 6.5, 18.5, 20.75, 40]),
             (1, 6, 9, 1.5, [0, 2, 0, 2, 1], [1, 0, 0, 0, 1, 0, 1, 0, 1, 1], [3, 3.75, 6.5, 7.75, 9]),
             (5, 5.166666666666667, 9, 1.7419354838709677, [0, 0, 2, 1, 2], [1, 2, 0, 0, 0, 0, 0, 0, 1, 1], [1, 2, 5, 8.75, 9])],
    "time (inc)": [(0, 78.16666666666667, 121, 1.5479744136460554, [2, 0, 0, 2, 1], [1, 0, 2, 0, 1, 0, 0, 0, 1, 1], [43, 61.25, 69, 98.5, 121]),
                   (1, 75.83333333333333, 117, 1.542857142857143, [2, 0, 0, 2, 1], [1, 0, 2, 1, 0, 0, 0, 0, 1, 1], [41, 59.75, 66.5, 96.5, 117]),
                   (3, 52, 92, 1.7692307692307692, [2, 0, 2, 0, 1], [1, 0, 1, 1, 1, 0, 0, 1, 0, 1], [16, 37, 47, 69, 92]),
                   (4, 42.833333333333336, 80, 1.8677042801556418, [2, 0, 2, 0, 1], [1, 0, 2, 0, 1, 0, 0, 1, 0, 1], [11, 29.25, 37.5, 57.75, 80]),
                   (2, 17.333333333333332, 40, 2.307692307692308, [1, 0, 0, 2, 1], [2, 0, 0, 1, 1, 0, 0, 0, 0, 1], [3, 6.5, 18.5, 20.75, 40])]}
HATCHETS_HOT_PATH = {"time": [0, 1, 2], "time (inc)": [0, 1, 3, 4]}
HATCHETS_FLAT_PROFILE = [("b", 60.166667, 60.166667), ("a", 6, 75.833333), ("d", 5.166667, 5.166667), ("c", 4, 52), ("main", 2.333333, 78.166667),
                         ("e", 0.5, 0.5)]


@test
def compat_hatchet_gives_stored_numbers_of_hatchet(job):
    libprofile = package(job)
    nodes = list(zip([0, 0, 1, 1, 3, 3, 1], ["main", "a", "b", "c", "b", "d", "e"]))
    frame = libprofile.make_frame(nodes, [(rank, thread) for rank in range(3) for thread in range(2)], {"time": np.array([
        [5, 1, 2, 2, 0, 4], [7, 9, 3, 3, 8, 6], [20, 21, 40, 3, 3, 17], [4, 4, 4, 4, 4, 4], [30, 62, 11, 29, 45, 80], [9, 9, 1, 2, 2, 8],
        [1, 0, 0, 0, 0, 2]], dtype=float)})
    for metric, rows in HATCHETS_IMBALANCE.items():
        found = frame.load_imbalance(metric, threshold=0.1, verbose=True, compat="hatchet")
        columns = [found[column] for column in ("node", *(f"{metric}.{name}" for name in ("mean", "max", "imbalance", "ranks", "hist", "percentiles")))]
        expect_equal(found.rows, len(rows), "nodes")
        for column, wanted in zip(columns, zip(*rows)):
            np.testing.assert_allclose(np.asarray(column, dtype=float), np.array(wanted, dtype=float), rtol=1e-12)
        # Hatchet begins at the root; that is the program here.
        expect_equal([0, *frame.hot_path(metric, compat="hatchet")["node"].tolist()], HATCHETS_HOT_PATH[metric], "hot path")
    flat = frame.flat_profile(compat="hatchet")
    expect_equal([str(name) for name in flat["name"]], [name for name, _, _ in HATCHETS_FLAT_PROFILE], "functions")
    for column, at in (("time", 1), ("time (inc)", 2)):
        np.testing.assert_allclose(flat[column], [row[at] for row in HATCHETS_FLAT_PROFILE], atol=5e-7)


@test
def compat_hatchet_gives_the_numbers_of_its_definitions(job):
    """Against pandas code of what Chopper of Hatchet 1.4.0 does with a frame that has a row for each node, rank and thread."""
    libprofile, pd = package(job), pandas()
    random = np.random.default_rng(140)
    for trial in range(200):
        frames = []
        for ranks in (3, 1, 2):
            nodes, threads = int(random.integers(2, 12)), int(random.integers(1, 3))
            parents = [0] + [int(random.integers(0, n)) for n in range(1, nodes)]
            values = random.integers(0, 50, (nodes, ranks * threads)).astype(float)
            values[0] += 1
            frames.append(libprofile.make_frame([(parent, f"f{random.integers(0, 4)}") for parent in parents],
                                                [(rank, thread) for rank in range(ranks) for thread in range(threads)], {"time": values}))
        for frame in frames:
            table = frame.dataframe().reset_index()
            for metric in ("time", "time (inc)") if trial < 40 else ():
                compare_imbalance_of_hatchet(frame, table, metric, int(random.integers(1, 10)) / 10)
            means = table.groupby("node")[["time", "time (inc)"]].mean()
            means["name"] = [str(name) for name in frame.nodes()["name"]]
            flat = frame.flat_profile(compat="hatchet").dataframe().set_index("name")
            wanted = means.groupby("name").sum().loc[flat.index]
            np.testing.assert_allclose(flat[["time", "time (inc)"]], wanted[["time", "time (inc)"]])
            for metric in (None, "time (inc)"):
                column, sums = means[metric or "time"], frame.sums(metric or "time")
                path = [max(range(1, frame.node_count), key=lambda n: (frame.parents[n] == 0, sums[n], -n))]
                while children := [n for n in range(1, frame.node_count) if frame.parents[n] == path[-1]]:
                    child = max(children, key=lambda n: (column[n], -n))
                    path.append(child)
                    if column[child] < 0.5 * column[path[-2]]:
                        break
                expect_equal(frame.hot_path(metric, compat="hatchet")["node"].tolist(), path, f"hot path by {metric}")
        rows = []
        for frame in frames:
            part = frame.dataframe().reset_index().groupby("node").agg({"name": "first", "time": "mean"})
            rows.append(part[part["time"] > 10].assign(ranks=len(frame.ranks), name=part["name"].astype(str)))
        wanted = pd.concat(rows).pivot_table(index="ranks", columns="name", values="time")
        got = libprofile.multirun_analysis(frames, pivot_index="ranks", threshold=10, compat="hatchet").dataframe()
        expect_equal((got.index.tolist(), got.columns.tolist()), (wanted.index.tolist(), wanted.columns.tolist()), "runs and functions")
        np.testing.assert_allclose(got, wanted)
        # unify_multiple_graphframes() takes the largest value of each node.
        nodes = int(random.integers(2, 12))
        tree = [(max(0, int(random.integers(-1, n))) if n else 0, f"f{n}") for n in range(nodes)]
        runs, largest = [], []
        for ranks in (3, 1):
            places = [(rank, thread) for rank in range(ranks) for thread in range(2)]
            runs.append(libprofile.make_frame(tree, places, {"time": random.integers(0, 50, (nodes, len(places))).astype(float)}))
            largest.append(runs[-1].dataframe().groupby("node")["time"].max())
        scaling = libprofile.speedup_efficiency([runs[0], runs[0], runs[1]], strong=True, efficiency=True, compat="hatchet")
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(scaling["1.time.efficiency"], np.float64(largest[0]) * 3 / np.float64(largest[1]))


def frame_path(names, parents, node):
    path = [names[node]]
    while node:
        node = parents[node]
        path.append(names[node])
    return path[::-1]


def literal_hot_path(parents, inclusive):
    def hottest(node):
        children = [n for n in range(1, len(parents)) if parents[n] == node]
        return max(children, key=lambda n: (inclusive[n], -n), default=None)
    first = hottest(0)
    path = [0 if first is None else first]
    while (child := hottest(path[-1])) is not None and inclusive[child] > 0.5 * inclusive[path[-1]]:
        path.append(child)
    return path


@test
def efficiencies_of_known_scaling_are_found(job):
    libprofile = package(job)
    frames = []
    for ranks in (8, 2, 4, 4):
        serial, parallel = 100.0, 800.0 / ranks
        values = np.tile([[0.0], [serial], [parallel]], (1, ranks))
        frames.append(libprofile.make_frame([(0, "main"), (0, "serial"), (0, "work")], [(rank, 0) for rank in range(ranks)], {"time": values}))
    strong = libprofile.speedup_efficiency(frames, strong=True, efficiency=True)
    for ranks in (4, 8):
        expected = [500 / (100 + 800 / ranks) * 2 / ranks, 2 / ranks, 1.0]
        np.testing.assert_allclose(strong[f"{ranks}.time (inc).efficiency"], expected)
    expect("4.time (inc).spread" in strong, "two runs of 4 ranks have a spread")
    expect("2.time (inc).efficiency" not in strong, "the smallest run is the baseline, not the first")
    speedup = libprofile.speedup_efficiency(frames, strong=True, speedup=True, threshold=450)
    expect_equal([str(name) for name in speedup["name"]], ["main"], "the threshold is that of the baseline")
    threaded = [libprofile.make_frame([(0, "main")], [(0, thread) for thread in range(threads)], {"time": [[100.0 / threads] * threads]}) for threads in (1, 4)]
    np.testing.assert_allclose(libprofile.speedup_efficiency(threaded, strong=True, speedup=True)["4.time (inc).speedup"], [4])
    pivot = libprofile.multirun_analysis(frames)
    expect_equal((pivot.runs, [str(name) for name in pivot.names]), ([8, 2, 4, 4], ["work", "serial", "main"]), "runs by functions")
    np.testing.assert_allclose(pivot.values[:, 0], [100, 400, 200, 200])
    for wrong in ({}, {"strong": True, "weak": True}, {"weak": True, "speedup": True}):
        try:
            libprofile.speedup_efficiency(frames, **wrong)
            raise AssertionError(f"{wrong} must be refused")
        except ValueError:
            pass


@test
def the_slowed_function_and_rank_of_some_runs_are_named(job):
    libprofile = package(job)
    random = np.random.default_rng(3)
    frames = []
    for run in range(12):
        values = np.array([[0.0] * 4, [1000.0] * 4, [500.0] * 4, [300.0] * 4]) * (1 + 0.005 * random.standard_normal((4, 4)))
        if run == 7:
            values[2, 3] *= 1.4
        frames.append(libprofile.make_frame([(0, "main"), (0, "f"), (0, "g"), (0, "h")], [(rank, 0) for rank in range(4)], {"time": values}))
    first = libprofile.variability(frames)
    expect_equal((str(first["name"][0]), int(first["rank"][0])), ("g", 3), "what made the slow run slow")
    expect(first["share"][0] > 0.8, f"its share: {first['share'][0]}")


@test
def a_frame_of_a_profile_has_the_tables_values(job):
    libprofile = package(job)
    job.profile([job.example("hydro"), 40, 8])
    place = job.folder / "profile.1"
    profile = libprofile.open(place)
    table, frame = profile.table(metrics=["time", "visits"]), libprofile.frame(place, metrics=["time", "visits"])
    for metric in ("time", "visits"):
        expect_equal(np.nan_to_num(frame.values(metric)).astype(int).tolist(), table.exclusive(metric).tolist(), metric)
        expect_equal(np.nan_to_num(frame.values(metric + " (inc)")).astype(int).tolist(), table.inclusive(metric).tolist(), metric + " (inc)")
    for choice in ({}, {"metrics": ["all"]}, {"ranks": 1, "lines": True}, {"metrics": "mpi", "short_names": True}):
        streamed, table_frame = libprofile.frame(place, **choice), libprofile.frame(profile, **choice)
        expect_equal([list(streamed.path(n)) for n in range(streamed.node_count)], [list(table_frame.path(n)) for n in range(table_frame.node_count)], choice)
        expect_equal((streamed.metrics, streamed.units, streamed.threads), (table_frame.metrics, table_frame.units, table_frame.threads), choice)
        for metric in streamed.metrics:
            for one, other in zip(streamed.stored(metric), table_frame.stored(metric)):
                expect_equal(one.tolist(), other.tolist(), f"{metric} of {choice}")
    expect(not (place / "totals.lprof").exists(), "a small profile keeps no totals")
    begin, node, value = frame.stored("time")
    expect(not value.flags.writeable and not value.flags.owndata, "stored values are a view")
    some = libprofile.frame(profile, iterations=(1, 20))
    expect(some.estimated and some.scope == "iterations 1-20 of timestep", f"{some.estimated}, {some.scope}")
    both = libprofile.unify([frame, frame])
    expect_equal(both.frames[1].sums("time").tolist(), frame.sums("time").tolist(), "unified with itself")
    expect(not both.renamed, f"renamed: {both.renamed}")
    for call in (lambda: frame.values("nothing"), lambda: frame.subtree(10**6), lambda: frame.filter(np.array([True])),
                 lambda: frame.load_imbalance(over="host"), lambda: frame.hot_path(compat="vampir")):
        try:
            call()
            raise AssertionError("must be refused")
        except ValueError as error:
            expect(str(error), "a sentence")


@test
def steps_of_iterations_have_the_values_of_their_frames(job):
    libprofile = package(job)
    job.profile([job.example("hydro"), 40, 8])
    profile = libprofile.open(job.folder / "profile.1")
    for metric in ("time", "time (inc)", "visits (inc)"):
        steps = libprofile.frame(profile, metric, by_iteration=15)
        expect_equal((steps.first.tolist(), steps.last.tolist()), ([1, 16, 31], [15, 30, 40]), "steps")
        for step, (first, last) in enumerate(zip(steps.first, steps.last)):
            frame = libprofile.frame(profile, metric.split()[0], iterations=(int(first), int(last)))
            wanted = frame.load_imbalance(metric)
            rows = {tuple(frame.path(node)): row for row, node in enumerate(wanted["node"])}
            there = np.flatnonzero(steps.present[step])
            expect_equal(sorted(tuple(steps.tree.path(node)) for node in there), sorted(rows), f"call paths of step {step}")
            for node in there:
                row = rows[tuple(steps.tree.path(node))]
                for key in ("mean", "max", "present", "imbalance"):
                    np.testing.assert_allclose(getattr(steps, key)[step, node], wanted[f"{metric}.{key}"][row], rtol=1e-12, err_msg=f"{metric}.{key}")
            if metric == "time (inc)":
                path = steps.hot_path[step]
                expect_equal([steps.tree.path(node) for node in path[path >= 0]], [frame.path(node) for node in frame.hot_path()["node"]], "hot path")
            expect_equal(bool(steps.estimated[step].any()), frame.estimated, "estimates")
    efficiency = steps.efficiency()
    execution, off_cpu, mpi, openmp, time = (profile.series(name) for name in ("execution", "off_cpu", "mpi", "openmp", "time"))
    computing = execution - off_cpu - mpi - openmp
    for step, part in enumerate((slice(0, 15), slice(15, 30), slice(30, 40))):
        of_ranks, longest = computing[:, part].sum(axis=1), time[:, part].sum(axis=1).max()
        np.testing.assert_allclose(efficiency["parallel efficiency"][step], of_ranks.mean() / longest)
        np.testing.assert_allclose(efficiency["load balance"][step], of_ranks.mean() / of_ranks.max())
        np.testing.assert_allclose(efficiency["communication efficiency"][step], of_ranks.max() / longest)
    expect_equal(len(libprofile.frame(profile, by_iteration=True).first), 40, "a step for each iteration")
    expect_equal(libprofile.frame(profile, by_iteration=5, iterations=(11, 22)).last.tolist(), [15, 20, 22], "steps of some iterations")
    for wrong in ({"by_iteration": -1}, {"by_iteration": 2.5}, {"by_iteration": 2, "metrics": ["time", "visits"]}):
        try:
            libprofile.frame(profile, **wrong)
            raise AssertionError(f"{wrong} must be refused")
        except (ValueError, TypeError):
            pass


def literal_step(profile, program, metric, first, last, ranks):
    """By rank that has such iterations: values by call path, which is the names from the program down; no entry where it never came."""
    names = []
    for path in profile.call_paths:
        names.append((*names[path.parent], path.name) if names else (program,))
    found = {}
    for place in profile.locations:
        count = len(profile.iteration_times(place.rank, place.thread, "step"))
        if place.rank not in ranks or count < first:
            continue
        each, _ = profile.by_iteration(metric, place.rank, place.thread, "step", (first, min(last, count)))
        own = found.setdefault(place.rank, {})
        for path in np.flatnonzero(each.any(axis=0)):
            own[names[path]] = own.get(names[path], 0) + int(each[:, path].sum())
    return found


def with_callees(own):
    result = {}
    for path, value in own.items():
        for depth in range(1, len(path) + 1):
            result[path[:depth]] = result.get(path[:depth], 0) + value
    return result


@test
def steps_equal_literal_sums_over_random_iterations_and_ranks(job):
    libprofile = package(job)
    job.compile(f"mpicc.{job.mpi}", "-g", "-O1", f"-I{job.source}/include", job.write("ragged.c", RAGGED), "-o", "ragged")
    # Without clusters each iteration has its own values; with them those are estimates, but their sum is not.
    for name, options in (("exact", {"LIBPROFILE_CLUSTERS": "off"}), ("estimated", {"LIBPROFILE_CLUSTERS": "3"})):
        job.measured([job.folder / "ragged"], 3, output=name, options={"LIBPROFILE_SAMPLE": "10kHz", **options})
    random, recursion = np.random.default_rng(4), 0
    profile = libprofile.open(job.folder / "exact")
    for _ in range(3):
        for metric in ("time", "time (inc)", "visits", "visits (inc)"):
            first, stride = int(random.integers(1, 30)), int(random.integers(1, 20))
            last = int(random.integers(first, 55))
            ranks = sorted(random.choice(3, int(random.integers(1, 4)), replace=False).tolist())
            steps = libprofile.frame(profile, metric, by_iteration=stride, iterations=(first, last), ranks=ranks, phase="step")
            last = min(last, 54)  # of rank 2, also if it is not chosen: steps are those of the run
            begins = list(range(first, last + 1, stride))
            what = f"{metric} of iterations {first}-{last} of ranks {ranks} by {stride}"
            expect_equal((steps.first.tolist(), steps.last.tolist()), (begins, [min(begin + stride - 1, last) for begin in begins]), what)
            for step, (begin, end) in enumerate(zip(steps.first, steps.last)):
                own = literal_step(profile, steps.tree.path(0)[0], metric.split()[0], int(begin), int(end), ranks)
                inclusive = {rank: with_callees(values) for rank, values in own.items()}
                expect_equal(steps.rank_count[step], len(own), f"ranks of step {step} of {what}")
                rows, wanted = {}, inclusive if "inc" in metric else own
                for node in range(steps.tree.node_count):
                    path = tuple(steps.tree.path(node))
                    values = [of_rank.get(path, 0) for of_rank in wanted.values()] or [0]
                    rows[path] = values
                    recursion += path.count("descend") > 1 and any(values)
                    at = f"{path} in step {step} of {what}"
                    expect_equal(int(steps.present[step, node]), sum(path in of_rank for of_rank in wanted.values()), f"present: {at}")
                    np.testing.assert_allclose((steps.mean[step, node], steps.max[step, node]), (np.mean(values), np.max(values)), err_msg=at)
                    np.testing.assert_allclose(steps.imbalance[step, node], np.max(values) / np.mean(values) if np.mean(values) else np.nan, err_msg=at)
                expect(set().union(*wanted.values()) <= set(rows), f"a call path has no node: {what}")
                all = {path: sum(of_rank.get(path, 0) for of_rank in inclusive.values()) for path in rows}
                nodes = [tuple(steps.tree.path(node)) for node in range(steps.tree.node_count)]
                hot = [nodes[node] for node in literal_hot_path(steps.tree.parents, [all[path] for path in nodes])]
                expect_equal([nodes[node] for node in steps.hot_path[step] if node >= 0], hot, f"hot path of step {step} of {what}")
                expect(not steps.estimated[step].any(), f"what is kept in full is exact: {what}")
    expect(recursion > 10, "recursion is there")
    profile = libprofile.open(job.folder / "estimated")
    for stride in (1, 7, 20):
        steps = libprofile.frame(profile, "time (inc)", by_iteration=stride, phase="step")
        expect(steps.estimated.any(), "three clusters are fewer than there are kinds of iterations")
        for step, begin in enumerate(range(0, 54, stride)):
            walls = [profile.iteration_times(rank, phase="step")[begin:begin + stride].sum() for rank in range(3) if begin < 30 + 12 * rank]
            expect_equal((steps.mean[step, 0], steps.max[step, 0]), (np.mean(walls), np.max(walls)), f"time of step {step} by {stride}")


def by_path(frame, skipped):
    """Values that are not 0, by call path without the first `skipped` names."""
    values = np.nan_to_num(frame.values("time"))
    return sorted((frame.path(node)[skipped:], values[node].tolist()) for node in np.flatnonzero(values.any(axis=1)))


@test
def exports_read_back_give_the_same_integers(job):
    libprofile = package(job)
    job.profile([job.example("hydro"), 40, 8])
    place = job.folder / "profile.1"
    frame = libprofile.frame(place, metrics=["time", "visits", "bytes"])
    short = libprofile.frame(place, metrics=["time", "visits", "bytes"], short_names=True)
    for name, by_rank in (("hpctoolkit", True), ("cubex", True), ("csv", True), ("pprof", True), ("speedscope", True), ("folded", True), ("caliper", False)):
        file = job.folder / f"export.{name}.any"
        options = ["--by-rank"] if name == "folded" else []
        metrics = ["time"] if name == "folded" else ["time", "visits", "bytes"]
        result = job.run([job.tool, "export", place, "--format", name, "--output", file, "--metric", ",".join(metrics), *options])
        expect_equal(result.code, 0, f"export to {name}")
        read, = libprofile.construct_from([file])
        names = {"MPI bytes transferred": "bytes", "Call path visits": "visits"}
        for metric in read.metrics:
            ours = names.get(metric, metric)
            for wanted in (frame, short):
                if name in ("speedscope", "folded") and wanted is frame or name not in ("speedscope", "folded", "caliper") and wanted is short:
                    continue
                totals = wanted.values(ours + " (inc)")[0]
                got = read.values(metric + " (inc)")[0]
                expect_equal(got.tolist(), totals.tolist() if by_rank else [totals.sum()], f"{metric} of the ranks in {name}")
        expect(len(read.metrics) == len(metrics), f"metrics of {name}: {read.metrics}")
        if name in ("hpctoolkit", "csv"):
            expect_equal(by_path(read, 1 if name == "hpctoolkit" else 0), by_path(frame, 0), f"every value in {name}")


@test
def files_that_are_no_profile_are_refused_in_one_sentence(job):
    libprofile = package(job)
    for name, text in (("empty", ""), ("words", "hello world\n"), ("json", "{}"), ("cali", "__rec=ctx,ref=1\n"), ("xml", "<a/>"), ("circle", "__rec=node,id=5,attr=8,data=x,parent=5\n__rec=ctx,ref=5\n"),
                       ("flat", "Flat profile:\n\nnothing\n")):
        file = job.folder / name
        file.write_text(text)
        try:
            libprofile.frame(file)
            raise AssertionError(f"{name} must be refused")
        except (ValueError, OSError) as error:
            expect(str(file) in str(error) and str(error).count("\n") == 0, f"one sentence that names the file: {error}")


main()
