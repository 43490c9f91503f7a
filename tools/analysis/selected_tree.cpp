#include "tools/analysis/selected_tree.hpp"

#include "tools/analysis/cell_rows.hpp"
#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/inside.hpp"

#include <algorithm>
#include <cctype>
#include <mutex>

namespace libprofile::tools {

namespace {

std::string lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

/// The cells of a location that are selected, phase by phase.
WithInside cells_of(const Profile& profile, const Location& location, const TreeChoice& choice) {
    WithInside result{{{}}, {0}};
    std::vector<SelectedCell>& cells = result.cells.front();
    for (const PhaseData& data : location.phases) {
        if (choice.phase != TreeChoice::all_phases && data.phase != choice.phase) continue;
        if (choice.phase != TreeChoice::all_phases && !choice.exclusive && data.wall_inclusive_ns != data.wall_ns &&
            profile.phases[data.phase].kind == PhaseKind::Iterations)
            return cells_with_inside(profile, location, data, std::span(&choice.iterations, 1), true);
        const bool whole = choice.iterations.first == 0 && choice.iterations.last >= data.cluster_of_iteration.size();
        std::vector<SelectedCell> here = whole ? selected_cells(data) : std::move(selected_cells(profile, data, std::span(&choice.iterations, 1)).front());
        if (cells.empty())
            cells = std::move(here);
        else
            cells.insert(cells.end(), here.begin(), here.end());
        result.sampled.push_back(sampled_selection(profile, data, std::span(&choice.iterations, 1)));
    }
    return result;
}

std::uint64_t iterations_of(const Location& location, const TreeChoice& choice) {
    const PhaseData* data = choice.phase == TreeChoice::all_phases ? nullptr : find_phase(&location, choice.phase);
    const std::uint64_t all = data == nullptr ? 0 : data->cluster_of_iteration.size();
    return choice.iterations.first >= all ? 0 : std::min(choice.iterations.last, all - 1) - choice.iterations.first + 1;
}

} // namespace

void SelectedValue::add(const SelectedValue& more) {
    value += more.value;
    estimated = estimated || more.estimated;
    bound = add_bounds(bound, more.bound);
    add_parts(parts, more.parts);
}

FunctionTree make_function_tree(const Profile& profile, const std::vector<const Location*>& locations, bool fold_interpreter, const std::string& path) {
    FunctionTree tree;
    tree.nodes = function_tree(profile, locations, fold_interpreter, &tree.node_of_path);
    tree.counts.resize(tree.nodes.size(), path.empty());
    tree.depth.resize(tree.nodes.size());
    for (std::size_t n = 1; n < tree.nodes.size(); ++n)
        if (const int parent = tree.nodes[n].parent; parent > 0) tree.depth[n] = tree.depth[static_cast<std::size_t>(parent)] + 1;
    const std::string wanted = lower(path);
    for (std::size_t n = 1; n < tree.nodes.size() && !path.empty(); ++n) {
        const FunctionNode& node = tree.nodes[n];
        const bool is_match = lower(node.name).find(wanted) != std::string::npos || lower(node.source).find(wanted) != std::string::npos;
        tree.matches += is_match ? 1 : 0;
        tree.counts[n] = is_match || tree.counts[static_cast<std::size_t>(node.parent)];
    }
    return tree;
}

SelectedTree select_tree(const Profile& profile, const FunctionTree& tree, const TreeChoice& choice) {
    const std::size_t nodes = tree.nodes.size(), rows = choice.rows.size();
    const CellRows wanted(profile, choice.rows), summed(profile, choice.totals);
    SelectedTree result;
    result.exclusive.assign(nodes, std::vector<SelectedValue>(rows));
    result.by_location.assign(choice.locations.size(), std::vector<std::uint64_t>(choice.totals.size()));
    result.totals.resize(choice.totals.size());
    result.own.assign(choice.locations.size(), std::vector<std::uint64_t>(nodes));
    result.untold_by_location.resize(choice.locations.size());
    std::vector<std::vector<SampledSelection>> sampled(choice.locations.size());
    std::mutex lock;
    in_parallel(choice.locations.size(), [&](std::size_t l) {
        const Location& location = *choice.locations[l];
        WithInside selected = cells_of(profile, location, choice);
        sampled[l] = std::move(selected.sampled);
        const std::lock_guard guard(lock);
        result.exact_times_only = result.exact_times_only || selected.is_scaled;
        result.untold_by_location[l] = selected.untold.front();
        result.untold += selected.untold.front();
        for (const SelectedCell& cell : selected.cells.front()) {
            const bool is_code = cell.path != 0 && category_of(profile, profile.paths[cell.path]) == TimeCategory::Compute;
            const bool is_sampled = cell.metric == 0 && is_code;
            result.time += cell.metric == 0 ? cell.value : 0;
            result.sampled += is_sampled ? cell.value : 0;
            const std::uint32_t node = tree.node_of_path[cell.path];
            if (!tree.counts[node]) continue;
            const SelectedValue value{cell.value, cell.estimated, is_sampled && !cell.scaled ? 0 : cell.bound};
            for (const std::uint32_t row : summed.of(cell.path, cell.metric)) {
                result.totals[row].add(value);
                result.by_location[l][row] += cell.value;
            }
            for (const std::uint32_t row : wanted.of(cell.path, cell.metric)) {
                result.exclusive[node][row].add(value);
                if (row == 0) result.own[l][node] += cell.value;
            }
        }
        result.iterations = std::max(result.iterations, iterations_of(location, choice));
        result.instances += iterations_of(location, choice);
        if (const PhaseData* data = choice.phase == TreeChoice::all_phases ? nullptr : find_phase(&location, choice.phase))
            result.exact_sums = result.exact_sums && sums_are_exact(*data, choice.iterations);
    });
    // In the order of the locations: sums of rounded numbers depend on it.
    SampledStrata strata;
    for (const std::vector<SampledSelection>& phases : sampled)
        for (const SampledSelection& phase : phases)
            strata.add(phase, [&](std::uint32_t path, std::uint32_t stratum, double ns) {
                const std::uint32_t node = tree.node_of_path[path];
                if (!tree.counts[node]) return;
                for (const std::uint32_t row : wanted.of(path, 0)) add_part(result.exclusive[node][row].parts, stratum, ns);
            });
    result.strata = strata.list();
    result.inclusive = result.exclusive;
    // The time of an instrumented function has in it that of those that it calls.
    const std::vector<MetricRow> all_rows = metric_rows(profile);
    std::vector<bool> holds_inner(rows);
    for (std::size_t row = 0; row < rows; ++row) holds_inner[row] = all_rows[choice.rows[row]].name == "region_time";
    for (std::size_t n = nodes; n-- > 1;)
        for (std::size_t row = 0; row < rows; ++row) {
            const auto parent = static_cast<std::size_t>(tree.nodes[n].parent);
            if (!holds_inner[row] || result.exclusive[parent][row].value == 0) result.inclusive[parent][row].add(result.inclusive[n][row]);
        }
    return result;
}

} // namespace libprofile::tools
