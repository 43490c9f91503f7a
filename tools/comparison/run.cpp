#include "tools/comparison/run.hpp"

#include "tools/comparison/call_places.hpp"
#include "tools/comparison/time_use.hpp"
#include "tools/frames/place_values.hpp"
#include "tools/frames/table_frame.hpp"
#include "tools/frames/unify.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>

namespace libprofile::tools {

namespace {

constexpr double least_work = 0.1; // of the main thread's time: a thread that works less is a helper of some library

/// The chosen places only.
void keep_places(Run& run, const std::vector<bool>& keep) {
    Frame& frame = run.frame;
    for (FrameColumn& column : frame.columns) {
        FrameColumn kept{column.metric, column.unit, {0}, {}, {}};
        for (std::size_t p = 0; p < column.places(); ++p) {
            if (!keep[p]) continue;
            const auto first = static_cast<std::ptrdiff_t>(column.begin[p]), last = static_cast<std::ptrdiff_t>(column.begin[p + 1]);
            kept.node.insert(kept.node.end(), column.node.begin() + first, column.node.begin() + last);
            kept.value.insert(kept.value.end(), column.value.begin() + first, column.value.begin() + last);
            kept.begin.push_back(kept.node.size());
        }
        column = std::move(kept);
    }
    const auto drop = [&](auto& list) {
        std::size_t to = 0;
        for (std::size_t p = 0; p < list.size(); ++p)
            if (keep[p]) {
                if (to != p) list[to] = std::move(list[p]);
                ++to;
            }
        list.resize(to);
    };
    if (!run.sampled.empty()) drop(run.sampled);
    drop(frame.places);
}

/// By place: its first metric over all nodes, without time off the processor and waits outside MPI and OpenMP.
std::vector<double> work_of(const Frame& frame) {
    const std::vector<TimeUse> uses = time_uses(frame);
    const FrameColumn& column = frame.columns.front();
    std::vector<double> work(column.places());
    for (std::size_t p = 0; p < column.places(); ++p)
        for (std::uint64_t i = column.begin[p]; i < column.begin[p + 1]; ++i) {
            const std::uint32_t node = column.node[i];
            const std::string& type = frame.texts[frame.nodes.kind[node]];
            if (uses[node] == TimeUse::Computing || type == "mpi" || type == "openmp") work[p] += column.value[i];
        }
    return work;
}

/// Counts the threads that work, and leaves out those that the choice does.
void choose_threads(Run& run, const RunChoice& choice) {
    const Frame& frame = run.frame;
    const std::vector<double> work = work_of(frame);
    std::vector<bool> is_main(frame.places.size());
    double of_main = 0;
    for (std::size_t p = 0; p < frame.places.size(); ++p) {
        is_main[p] = p == 0 || frame.places[p].rank != frame.places[p - 1].rank;
        if (is_main[p]) of_main = work[p];
        run.threads += is_main[p] || work[p] >= least_work * of_main;
    }
    if (!choice.threads) keep_places(run, is_main);
}

void check_metric(const Run& run, const RunChoice& choice) {
    const FrameColumn& column = run.frame.column(choice.metric);
    if (column.node.empty()) throw FrameError(fmt::format("{} has no values of {} in what was chosen", run.place, choice.metric));
}

/// A sentence if some machine had more ranks than processors: waiting ranks then take time from those that compute.
void note_shared_processors(const Profile& profile, Run& run) {
    struct Machine {
        std::uint64_t ranks = 0, processors = 0;
    };
    std::map<std::string, Machine> machines;
    for (const auto& [rank, info] : profile.ranks) {
        if (!info.affinity || info.affinity->machine.processors == 0) continue;
        Machine& machine = machines[info.affinity->machine.id + info.host];
        ++machine.ranks;
        machine.processors = info.affinity->machine.processors;
    }
    for (const auto& [id, machine] : machines)
        if (machine.ranks > machine.processors) {
            run.notes.push_back(fmt::format("{}: {} shared {}; times say more of the operating system than of the program", run.place,
                                            plural(machine.ranks, "rank"), plural(machine.processors, "processor")));
            return;
        }
}

} // namespace

Run run_of(const Profile& profile, const std::string& place, const RunChoice& choice) {
    TableChoice table_choice;
    table_choice.phase = choice.phase;
    table_choice.has_phase = choice.has_phase;
    table_choice.iterations = choice.iterations;
    table_choice.parts = choice.parts;
    table_choice.ranks = choice.ranks;
    table_choice.metrics = {choice.metric, "visits", "bytes"};
    table_choice.with_errors = choice.is_of_time();
    CallTable table = make_call_table(profile, table_choice);
    Run run;
    run.place = place;
    run.tool = "libprofile";
    run.frame = frame_of(table);
    set_call_places(run.frame, profile, table_choice);
    run.sampled = std::move(table.sampled);
    run.node_of_path = std::move(table.node_of_path);
    run.is_error_known = choice.is_of_time() && table.untold == 0;
    choose_threads(run, choice);
    check_metric(run, choice);
    for (std::uint32_t p = 0; p < profile.phases.size(); ++p) {
        if (profile.phases[p].kind != PhaseKind::Iterations) continue;
        RunPhase phase{profile.phases[p].name};
        for (const Location& location : profile.locations)
            if (const PhaseData* data = find_phase(&location, p)) {
                phase.iterations = std::max<std::uint64_t>(phase.iterations, data->cluster_of_iteration.size());
                phase.ns = std::max(phase.ns, static_cast<double>(data->wall_inclusive_ns));
            }
        run.phases.push_back(std::move(phase));
    }
    run.is_complete = profile.complete;
    if (!profile.complete) run.notes.push_back(fmt::format("{} is incomplete; libprofile report tells what is missing", place));
    note_shared_processors(profile, run);
    if (run.frame.estimated) run.notes.push_back(fmt::format("{}: some values of {} are estimates", place, run.frame.scope));
    return run;
}

Run run_of(Frame frame, const std::string& place, const std::string& tool, const RunChoice& choice) {
    if (choice.iterations || choice.has_phase)
        throw FrameError(fmt::format("{} is of another tool and has no iterations; leave out --iterations and --phase", place));
    Run run;
    run.place = place;
    run.tool = tool;
    run.frame = std::move(frame);
    run.is_error_known = false;
    std::erase_if(run.frame.columns, [&](const FrameColumn& c) { return c.metric != choice.metric && c.metric != "visits" && c.metric != "bytes"; });
    const auto chosen = std::find_if(run.frame.columns.begin(), run.frame.columns.end(), [&](const FrameColumn& c) { return c.metric == choice.metric; });
    if (chosen == run.frame.columns.end()) throw FrameError(fmt::format("{} has no metric \"{}\"", place, choice.metric));
    std::iter_swap(run.frame.columns.begin(), chosen);
    if (run.frame.columns.front().unit.empty() && choice.is_of_time()) run.frame.columns.front().unit = "ns"; // readers make times whole ns
    if (!choice.ranks.empty()) {
        std::vector<bool> keep;
        for (const FramePlace& at : run.frame.places) keep.push_back(std::binary_search(choice.ranks.begin(), choice.ranks.end(), at.rank));
        if (std::find(keep.begin(), keep.end(), true) == keep.end())
            throw FrameError(fmt::format("{} has no data of rank {}", place, fmt::join(choice.ranks, ", ")));
        keep_places(run, keep);
    }
    choose_threads(run, choice);
    check_metric(run, choice);
    return run;
}

std::vector<std::uint32_t> ranks_of(const Run& run) {
    std::vector<std::uint32_t> ranks;
    for (const FramePlace& place : run.frame.places)
        if (ranks.empty() || ranks.back() != place.rank) ranks.push_back(place.rank);
    return ranks;
}

std::vector<std::string> unify_runs(const std::vector<Run*>& runs) {
    const auto is_own = [](const Run& run) { return run.tool == "libprofile" || run.tool == "csv"; };
    for (const Run* run : runs)
        if (run->tool != runs[0]->tool && !(is_own(*run) && is_own(*runs[0])))
            throw FrameError(fmt::format("{} is a profile of {} and {} one of {}, and they measure different things; compare runs of one tool", runs[0]->place,
                                         runs[0]->tool, run->place, run->tool));
    std::vector<Frame> frames;
    for (Run* run : runs) frames.push_back(std::move(run->frame));
    const Unified unified = unify(frames);
    for (std::size_t r = 0; r < runs.size(); ++r) {
        runs[r]->frame = std::move(frames[r]);
        runs[r]->node_of = unified.node_of[r];
    }
    std::vector<std::string> sentences;
    for (const Renamed& one : unified.renamed) {
        std::string sentence = printable(fmt::format("{} is taken to be what is called {} now", short_function_name(one.from), short_function_name(one.to)));
        if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) sentences.push_back(std::move(sentence));
    }
    return sentences;
}

} // namespace libprofile::tools
