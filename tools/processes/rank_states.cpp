#include "tools/processes/rank_states.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/iteration_values.hpp"
#include "tools/analysis/kinds.hpp"
#include "tools/analysis/loop_ranks.hpp"
#include "tools/analysis/selected_tree.hpp"
#include "tools/text/named_choice.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <unordered_map>

namespace libprofile::tools {

namespace {

using enum CatalogueId;

/// Classes exclude each other, and are most of an iteration. "MPI" is the rest of MPI.
constexpr std::array class_names = {
    "computing", "waiting for a processor", "MPI point-to-point", "MPI collective", "MPI synchronization", "MPI one-sided", "MPI file I/O", "MPI", "OpenMP"};
using ClassTimes = std::array<std::uint64_t, class_names.size()>;

void add_classes(ClassTimes& to, const MetricValues& v) {
    const auto row = [&](CatalogueId id) { return v[static_cast<std::size_t>(id)]; };
    const std::uint64_t told = row(MpiInitExit) + row(MpiSync) + row(MpiCommunication) + row(MpiFileIo);
    const ClassTimes more = {computing_of(v), row(OffCpu),      row(MpiPointToPoint), row(MpiCollective),
                             row(MpiSync),    row(MpiOneSided), row(MpiFileIo),       row(Mpi) - std::min(row(Mpi), told),
                             row(OpenMp)};
    for (std::size_t c = 0; c < to.size(); ++c) to[c] += more[c];
}

std::uint16_t longest(const ClassTimes& times) {
    const auto most = std::max_element(times.begin(), times.end());
    return *most == 0 ? no_state : static_cast<std::uint16_t>(most - times.begin());
}

/// Returns false if some iterations got means.
bool read_row(const Profile& profile, RankStates& to, std::size_t row, bool by_class, std::atomic<std::uint64_t>& untold) {
    const PhaseData& data = *find_phase(to.locations[row], to.phase);
    IterationValues values(profile, *to.locations[row], data);
    values.begin_with(to.first);
    bool is_exact = true;
    for (std::size_t at = row * to.iterations, end = at + to.iterations; at < end && values.next(); ++at) {
        ClassTimes times = {};
        values.for_each([&](const MetricValues& v) { add_classes(times, v); });
        is_exact = is_exact && values.is_exact();
        if (values.untold() != 0) {
            ++untold;
            continue;
        }
        to.computing[at] = static_cast<float>(times[0]);
        if (by_class) to.states[at] = longest(times);
    }
    return is_exact;
}

/// Gives the iterations of each cluster one state.
/// @param state_of by row, then cluster, the rest last
void set_by_cluster(RankStates& to, const std::vector<std::vector<std::uint16_t>>& state_of) {
    in_parallel(to.locations.size(), [&](std::size_t row) {
        const PhaseData& data = *find_phase(to.locations[row], to.phase);
        for (std::size_t i = 0; i < to.iterations && to.first + i < data.cluster_of_iteration.size(); ++i)
            to.states[row * to.iterations + i] = state_of[row][std::min<std::size_t>(data.cluster_of_iteration[to.first + i], state_of[row].size() - 1)];
    });
}

void set_kinds(const Profile& profile, RankStates& to) {
    const std::vector<std::vector<std::uint32_t>> kinds = kinds_of_clusters(profile, to.locations, to.phase);
    std::vector<std::vector<std::uint16_t>> states;
    for (const std::vector<std::uint32_t>& of_cluster : kinds) {
        std::vector<std::uint16_t>& row = states.emplace_back();
        for (const std::uint32_t kind : of_cluster) {
            row.push_back(static_cast<std::uint16_t>(std::min<std::uint32_t>(kind, no_state)));
            while (row.back() != no_state && to.names.size() <= row.back()) to.names.push_back(kind_letters(static_cast<std::uint32_t>(to.names.size())));
        }
        row.push_back(no_state); // those in no cluster
    }
    set_by_cluster(to, states);
}

void set_functions(const Profile& profile, RankStates& to, std::uint32_t depth) {
    const FunctionTree tree = make_function_tree(profile, to.locations, true, "");
    std::unordered_map<std::string, std::uint16_t> state_of_name;
    const auto ancestor = [&](std::uint32_t path) {
        std::uint32_t node = tree.node_of_path[path];
        while (tree.depth[node] + 1 > depth && tree.nodes[node].parent > 0) node = static_cast<std::uint32_t>(tree.nodes[node].parent);
        return node;
    };
    const auto state_of = [&](const std::vector<Cell>& cells) {
        std::unordered_map<std::uint32_t, std::uint64_t> ns;
        for (const Cell& cell : cells)
            if (cell.metric == 0) ns[ancestor(cell.path)] += cell.value;
        std::uint32_t most = 0;
        std::uint64_t longest_ns = 0;
        for (const auto& [node, value] : ns)
            if (value > longest_ns || (value == longest_ns && node < most)) most = node, longest_ns = value;
        if (longest_ns == 0) return no_state;
        const auto [at, is_new] = state_of_name.try_emplace(tree.nodes[most].name, static_cast<std::uint16_t>(to.names.size()));
        if (is_new) to.names.push_back(tree.nodes[most].name);
        return at->second;
    };
    std::vector<std::vector<std::uint16_t>> states;
    for (const Location* location : to.locations) {
        const PhaseData& data = *find_phase(location, to.phase);
        std::vector<std::uint16_t>& row = states.emplace_back();
        for (const Cluster& cluster : data.clusters) row.push_back(state_of(cluster.cells));
        row.push_back(state_of(data.rest));
    }
    set_by_cluster(to, states);
}

} // namespace

std::optional<StateBy> state_named(std::string_view name) {
    constexpr std::array names = {"class", "function", "kind"};
    return named_choice<StateBy>(names, name);
}

RankStates rank_states(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase, IterationRange range, StateBy by,
                       std::uint32_t depth) {
    RankStates result;
    LoopRanks ranks = loop_ranks(locations, phase);
    result.locations = std::move(ranks.locations);
    result.phase = phase;
    result.first = std::min(range.first, ranks.most);
    result.iterations = static_cast<std::size_t>(std::max(result.first, range.last >= ranks.most ? ranks.most : range.last + 1) - result.first);
    result.states.assign(result.locations.size() * result.iterations, no_state);
    result.computing.assign(result.states.size(), std::numeric_limits<float>::quiet_NaN());
    std::atomic<bool> is_exact = true;
    std::atomic<std::uint64_t> untold = 0;
    in_parallel(result.locations.size(), [&](std::size_t row) {
        if (!read_row(profile, result, row, by == StateBy::Class, untold)) is_exact = false;
    });
    result.is_estimated = !is_exact;
    result.untold = untold;
    if (by == StateBy::Class) result.names.assign(class_names.begin(), class_names.end());
    if (by == StateBy::Class) result.computing_state = 0;
    if (by == StateBy::Kind) set_kinds(profile, result);
    if (by == StateBy::Function) set_functions(profile, result, depth);
    return result;
}

} // namespace libprofile::tools
