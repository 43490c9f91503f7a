#include "tools/processes/compared_processes.hpp"

#include "tools/analysis/loop_ranks.hpp"
#include "tools/diagnosis/hot_function.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_groups_shown = 12;
constexpr std::uint32_t no_row = 0xffffffff;
constexpr std::size_t ranks_near_median = 8; // that a hot cell is compared with

StructureLevel level_to_show(const ProcessGroups& groups) {
    for (std::size_t level = structure_levels; level-- > 1;)
        if (groups.levels[level].size() <= most_groups_shown) return static_cast<StructureLevel>(level);
    return StructureLevel::Pairs;
}

/// The rows nearest to the median rank in the iterations of a cell.
std::vector<std::uint32_t> usual_rows(const ImbalanceMap& map, const HotCell& cell) {
    std::vector<std::pair<double, std::uint32_t>> rows;
    for (std::uint32_t row = 0; row < map.locations.size(); ++row) {
        double sum = 0;
        for (std::uint64_t i = cell.first; i <= cell.last; ++i) sum += map.at(row, i - map.first);
        if (row != cell.row && !std::isnan(sum)) rows.emplace_back(std::abs(sum), row);
    }
    const std::size_t taken = std::min(rows.size(), ranks_near_median);
    std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(taken), rows.end());
    std::vector<std::uint32_t> nearest;
    for (std::size_t r = 0; r < taken; ++r) nearest.push_back(rows[r].second);
    return nearest;
}

/// Rows, those first that tell most: the reference, one of each shown group, then the others; of more than can be compared, from all parts of the job.
std::vector<std::uint32_t> rows_by_importance(const ComparedProcesses& processes, std::optional<std::uint32_t> reference) {
    std::vector<std::uint32_t> order;
    std::vector<bool> is_listed(processes.locations.size());
    const auto add = [&](std::uint32_t row) {
        if (!is_listed[row]) order.push_back(row);
        is_listed[row] = true;
    };
    if (reference) add(*reference);
    for (const ProcessGroup& group : processes.shown()) add(group.rows.front());
    for (std::size_t stride = std::bit_ceil((is_listed.size() + most_sampled_ranks - 1) / most_sampled_ranks); stride != 0; stride /= 2)
        for (std::size_t row = 0; row < is_listed.size(); row += stride) add(static_cast<std::uint32_t>(row));
    return order;
}

/// Names the functions of hot cells.
class CellPlaces {
  public:
    CellPlaces(const Profile& profile, const ImbalanceMap& map, std::uint32_t phase)
        : map_(map), names_(profile), matrix_(map.locations.size(), 0), summer_(profile, matrix_, names_) {
        matrix_.locations = map.locations;
        matrix_.phase = phase;
    }

    void find(PlacedCell& placed) const {
        const HotCell& cell = placed.cell;
        const Ranges iterations = {{cell.first, cell.last}};
        IterationSums here = summer_.empty(), there = summer_.empty();
        summer_.add(here, cell.row, iterations);
        for (const std::uint32_t row : usual_rows(map_, cell)) summer_.add(there, row, iterations);
        if (there.iterations == 0) return;
        for (std::size_t node = 0; node < names_.tree.nodes.size(); ++node)
            if (names_.tree.nodes[node].kind == NodeKind::OffCpu || names_.tree.nodes[node].kind == NodeKind::OpenMp)
                here.node_ns[node] = there.node_ns[node] = 0;
        const auto computing = [](const IterationSums& sums) { return sums.per_iteration(sums.parts[0]); };
        const double excess = computing(here) - computing(there);
        const HotFunction function = find_hot_function(names_, here, there, excess, computing(there));
        // Of dozens of functions one has the most by chance. What is told is sure, and no more than there is.
        if (!function.tells() || function.difference() < 2 * function.error || function.difference() > excess + function.error) return;
        placed.function = names_.tree.nodes[function.node].name;
        placed.source = names_.tree.nodes[function.node].source;
        placed.function_ns = function.difference();
        placed.function_error = function.error;
    }

  private:
    const ImbalanceMap& map_;
    NamedSpots names_;
    IterationMatrix matrix_; // for its rows
    Summer summer_;
};

} // namespace

std::optional<std::uint32_t> reference_row(const std::vector<const Location*>& locations, std::uint32_t phase, std::uint32_t rank) {
    for (std::uint32_t row = 0; row < locations.size(); ++row)
        if (locations[row]->rank == rank && !loop_ranks({locations[row]}, phase).locations.empty()) return row;
    return std::nullopt;
}

ComparedProcesses compare_processes(const Profile& profile, const std::vector<const Location*>& locations, const ProcessChoice& choice) {
    ComparedProcesses result{{}, EventPaths(profile), {}, {}, {}, choice.phase, {}, {}, {}, {}, {}, {}, {}};
    std::copy_if(locations.begin(), locations.end(), std::back_inserter(result.locations), [](const Location* location) { return location != nullptr; });
    IterationStructures structures;
    if (choice.phase) {
        result.states = rank_states(profile, result.locations, *choice.phase, choice.iterations, choice.state, choice.depth);
        structures = iteration_structures(result.events, result.states.locations, *choice.phase);
    }
    result.groups = group_processes(profile, result.events, result.locations, choice.phase, choice.phase ? &structures : nullptr);
    result.level = choice.level.value_or(level_to_show(result.groups));
    std::vector<std::uint32_t> row_of(result.locations.size(), no_row);
    for (std::uint32_t row = 0, state_row = 0; row < result.locations.size() && state_row < result.states.locations.size(); ++row)
        if (result.locations[row] == result.states.locations[state_row]) row_of[row] = state_row++;
    for (std::size_t g = 0; g < result.shown().size(); ++g) {
        const ProcessGroup& group = result.shown()[g];
        std::vector<std::uint32_t>& rows = result.rows_of_group.emplace_back();
        for (const std::uint32_t row : group.rows)
            if (row_of[row] != no_row) rows.push_back(row_of[row]);
        const bool is_told = g != 0 && g < most_groups_shown;
        result.partings.push_back(
            is_told ? where_they_part(profile, result.events, *result.locations[group.rows.front()], *result.locations[result.shown().front().rows.front()])
                    : std::nullopt);
    }
    if (!choice.phase || result.states.locations.empty()) {
        result.map = imbalance_of_entries(profile, result.locations);
        if (choice.by_samples) result.samples = compare_by_samples(profile, result.locations, rows_by_importance(result, choice.reference));
        return result;
    }
    std::uint32_t reference = choice.reference ? row_of[*choice.reference] : no_row;
    for (const ProcessGroup& group : result.groups.levels.back())
        for (const std::uint32_t row : group.rows)
            if (reference == no_row) reference = row_of[row];
    result.timelines = rank_timelines(result.events, structures, result.states, reference);
    result.map = imbalance_map(result.states);
    result.typical.emplace(profile, result.states.locations, *choice.phase);
    if (!result.typical->is_known()) result.typical.reset();
    if (choice.by_samples && !result.typical) result.samples = compare_by_samples(profile, result.locations, rows_by_importance(result, choice.reference));
    const std::vector<HotCell> cells = hot_cells(result.map, choice.cells);
    if (cells.empty()) return result;
    const CellPlaces places(profile, result.map, *choice.phase);
    for (const HotCell& cell : cells) {
        PlacedCell& placed = result.cells.emplace_back();
        placed.cell = cell;
        const auto info = profile.ranks.find(result.map.locations[cell.row]->rank);
        if (info != profile.ranks.end()) placed.host = info->second.host;
        places.find(placed);
    }
    return result;
}

} // namespace libprofile::tools
