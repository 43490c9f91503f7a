#include "python/bindings.hpp"

#include "tools/analysis/totals.hpp"
#include "tools/comparison/sequence_pairs.hpp"
#include "tools/comparison/typical_events.hpp"
#include "tools/processes/process_document.hpp"
#include "tools/report/rows.hpp"

#include <memory>
#include <optional>
#include <pybind11/stl.h>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::python {

namespace {

using namespace tools;

using Range = std::pair<std::uint64_t, std::uint64_t>;

/// @throws py::value_error
template <class Named> auto named(const char* what, const std::string& name, Named find) {
    if (const auto found = find(name)) return *found;
    throw py::value_error(std::string("there is no ") + what + " \"" + name + "\"");
}

/// As `libprofile structure --format json` prints it.
std::string structure_of(const std::shared_ptr<Profile>& profile, const std::optional<std::uint32_t>& phase, const Range& iterations,
                         const std::vector<std::uint32_t>& ranks, bool threads, const std::string& level, const std::optional<std::uint32_t>& reference,
                         std::size_t top) {
    ProcessChoice choice;
    choice.phase = phase;
    choice.iterations = {iterations.first, iterations.second};
    if (!level.empty()) choice.level = named("level of structure", level, level_named);
    choice.cells = top;
    const std::vector<const Location*> locations = locations_of(*profile, ranks, threads);
    if (reference && phase) choice.reference = reference_row(locations, *phase, *reference);
    if (reference && !choice.reference) throw py::value_error("the reference is none of the ranks that are compared, or made no iterations");
    const py::gil_scoped_release others;
    ProcessForm form;
    form.everything = true;
    form.threads = threads;
    return document_json(process_document(*profile, compare_processes(*profile, locations, choice), form));
}

template <class Number> py::array_t<Number> array_of(const std::vector<Number>& values) {
    return py::array_t<Number>(static_cast<py::ssize_t>(values.size()), values.data());
}

/// Names of states, then of each span of iterations the first one, the length, the state (-1: none), and how many ranks are in it.
py::tuple fold_of(const std::shared_ptr<Profile>& profile, std::uint32_t phase, const Range& iterations, const std::vector<std::uint32_t>& ranks, bool threads,
                  const std::string& by, const std::string& state, std::uint32_t depth) {
    const FoldBy fold_by = named("way to fold", by, fold_named);
    const StateBy states_by = named("state", state, state_named);
    RankStates states;
    std::vector<FoldedSpan> strip;
    {
        const py::gil_scoped_release others;
        states = rank_states(*profile, locations_of(*profile, ranks, threads), phase, {iterations.first, iterations.second}, states_by, depth);
        strip = folded_strip(states, fold_by);
    }
    std::vector<std::int64_t> first, length, of_state, in_it;
    for (const FoldedSpan& span : strip) {
        first.push_back(static_cast<std::int64_t>(span.first));
        length.push_back(static_cast<std::int64_t>(span.length));
        of_state.push_back(span.state == no_state ? -1 : span.state);
        in_it.push_back(span.ranks);
    }
    py::list names;
    for (const std::string& name : states.names) names.append(text(name));
    return py::make_tuple(names, array_of(first), array_of(length), array_of(of_state), array_of(in_it));
}

/// Ranks, threads, the first iteration, the median by iteration, deviations by rank and iteration, and the function that a column is an entry of.
py::tuple imbalance_of(const std::shared_ptr<Profile>& profile, const std::optional<std::uint32_t>& phase, const Range& iterations,
                       const std::vector<std::uint32_t>& ranks, bool threads) {
    ImbalanceMap map;
    {
        const py::gil_scoped_release others;
        const std::vector<const Location*> locations = locations_of(*profile, ranks, threads);
        map =
            phase ? imbalance_map(rank_states(*profile, locations, *phase, {iterations.first, iterations.second})) : imbalance_of_entries(*profile, locations);
    }
    std::vector<std::int64_t> of_rank, of_thread;
    for (const Location* location : map.locations) {
        of_rank.push_back(location->rank);
        of_thread.push_back(location->thread);
    }
    auto [deviation, to] = matrix<float>(map.locations.size(), map.iterations, 0);
    std::copy(map.deviation.begin(), map.deviation.end(), to);
    return py::make_tuple(array_of(of_rank), array_of(of_thread), map.first, array_of(map.median), deviation, text(map.function));
}

/// By event that both have in their most frequent pair of sequences: call, caller, begins and lengths there and here, in ns.
py::list events_of(const TypicalEvents& typical) {
    py::list events;
    for (const TypicalEvent& one : typical.events)
        events.append(py::make_tuple(text(one.call), text(one.caller), one.begin_after, one.begin_before, one.length_after, one.length_before));
    return events;
}

/// Of two locations: iterations here and there, dissimilarity, unmatched time and skew by pair, how many have no partner here and there, and events.
py::tuple timeline_of(const std::shared_ptr<Profile>& profile, std::uint32_t phase, std::size_t here, std::size_t there) {
    PairTimeline pair;
    TypicalEvents typical;
    {
        const py::gil_scoped_release others;
        const std::vector<const Location*> locations = {&profile->locations[here], &profile->locations[there]};
        const RankStates states = rank_states(*profile, locations, phase);
        const EventPaths events(*profile);
        if (states.locations.size() == 2) pair = pair_timeline(events, iteration_structures(events, states.locations, phase), states, 0, 1);
        const auto made = [&](const Location* location) -> std::uint64_t {
            const PhaseData* data = find_phase(location, phase);
            return data == nullptr ? 0 : data->cluster_of_iteration.size();
        };
        std::vector<AlignedPair> pairs;
        for (std::size_t p = 0; p < pair.here.size(); ++p) pairs.push_back({pair.there[p], pair.here[p]});
        typical = typical_events(pair_sequences({profile.get(), phase, {locations[1]}}, {profile.get(), phase, {locations[0]}}, pairs));
        if (states.locations.size() != 2) {
            pair.alone_here = made(locations[0]);
            pair.alone_there = made(locations[1]);
        }
    }
    return py::make_tuple(array_of(std::vector<std::int64_t>(pair.here.begin(), pair.here.end())),
                          array_of(std::vector<std::int64_t>(pair.there.begin(), pair.there.end())), array_of(pair.dissimilarity), array_of(pair.unmatched_ns),
                          array_of(pair.skew), pair.alone_here, pair.alone_there, events_of(typical));
}

} // namespace

void add_processes(py::module_& module) {
    module.def("structure", &structure_of);
    module.def("fold", &fold_of);
    module.def("imbalance", &imbalance_of);
    module.def("timeline", &timeline_of);
}

} // namespace libprofile::python
