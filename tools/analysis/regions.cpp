#include "tools/analysis/regions.hpp"

#include "tools/names/labels.hpp"
#include "tools/reader/counters.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace libprofile::tools {

namespace {

/// What stands in for a cost that was not measured: a run with few calls.
constexpr double usual_cost_ns = 60;
/// What a visit costs before and after the hooks look at the clock: the calls, and what the compiler could not do for them.
constexpr double unseen_cost_ns = 8;
/// A function below that many times its own cost tells little, and costs much.
constexpr double worth = 10;
/// A region below this share of all time does no harm.
constexpr double least_share = 1e-4;

} // namespace

RegionCounters region_counters(const Profile& profile) {
    RegionCounters result;
    for (std::size_t m = metric_count; m < profile.metrics.size(); ++m)
        if (const std::size_t at = in_regions(profile.metrics, m); at != 0) {
            result.metrics.push_back(at);
            result.names.push_back(profile.metrics[m].name);
        }
    return result;
}

std::vector<RegionRow> region_rows(const Profile& profile) {
    const RegionCounters counters = region_counters(profile);
    std::vector<std::size_t> counter_of(profile.metrics.size(), SIZE_MAX); // by metric
    for (std::size_t i = 0; i < counters.metrics.size(); ++i) counter_of[counters.metrics[i]] = i;
    std::vector<RegionRow> rows;
    std::map<std::tuple<NodeKind, std::uint32_t, std::uint64_t>, std::size_t> known;
    std::vector<std::size_t> row_of(profile.paths.size(), SIZE_MAX);
    for (std::size_t p = 0; p < profile.paths.size(); ++p) {
        const CallPath& path = profile.paths[p];
        if (!is_region(path.kind)) continue;
        const auto [at, added] = known.emplace(std::tuple(path.kind, path.target, path.address), rows.size());
        if (added) {
            const Label label = label_of(profile, path);
            RegionRow row{path.kind, RegionClass::User, label.name, "", 0, 0, 0, 0, {}, 0};
            if (path.kind == NodeKind::Region) {
                row.region_class = static_cast<RegionClass>(path.target);
                row.counted.resize(counters.metrics.size());
            } else {
                row.site = path.target;
            }
            if (!label.file.empty()) row.source = label.line == 0 ? base_name(label.file) : fmt::format("{}:{}", base_name(label.file), label.line);
            rows.push_back(std::move(row));
        }
        row_of[p] = at->second;
    }
    if (rows.empty()) return rows;
    std::vector<std::uint64_t> visits(profile.paths.size()); // of functions; later: with those below
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases)
            for_each_cell(data, [&](const Cell& cell) {
                if (row_of[cell.path] == SIZE_MAX) return;
                RegionRow& row = rows[row_of[cell.path]];
                if (cell.metric == static_cast<std::uint32_t>(Metric::Visits)) {
                    row.visits += cell.value;
                    visits[cell.path] += row.kind == NodeKind::FunctionRegion ? cell.value : 0;
                }
                if (cell.metric == static_cast<std::uint32_t>(Metric::RegionTime))
                    row.inclusive_ns += cell.value;
                else if (cell.metric == static_cast<std::uint32_t>(Metric::RegionOwnTime))
                    row.exclusive_ns += cell.value;
                else if (const std::size_t c = counter_of.at(cell.metric); c < row.counted.size())
                    row.counted[c] += cell.value;
            });
    for (std::size_t p = profile.paths.size(); p-- > 1;) { // a parent's number is smaller
        const CallPath& path = profile.paths[p];
        if (path.kind != NodeKind::FunctionRegion || profile.paths[path.parent].kind != NodeKind::FunctionRegion) continue;
        visits[path.parent] += visits[p];
        rows[row_of[path.parent]].visits_inside += visits[p];
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const RegionRow& a, const RegionRow& b) { return std::tuple(b.inclusive_ns, a.name) < std::tuple(a.inclusive_ns, b.name); });
    return rows;
}

std::optional<RegionsRecord> region_losses(const Profile& profile) {
    std::optional<RegionsRecord> sum;
    for (const auto& [number, rank] : profile.ranks) {
        if (!rank.regions) continue;
        if (!sum) sum.emplace();
        sum->repairs += rank.regions->repairs;
        sum->left += rank.regions->left;
        sum->unmatched += rank.regions->unmatched;
        sum->too_deep += rank.regions->too_deep;
        sum->without_memory += rank.regions->without_memory;
        sum->without_module += rank.regions->without_module;
        sum->inside += rank.regions->inside;
        sum->excluded = std::max(sum->excluded, rank.regions->excluded);
        sum->pair_ps = std::max(sum->pair_ps, rank.regions->pair_ps);
    }
    return sum;
}

double visit_cost_ns(const Profile& profile) {
    const std::optional<RegionsRecord> record = region_losses(profile);
    return record && record->pair_ps != 0 ? static_cast<double>(record->pair_ps) / 1000 : usual_cost_ns;
}

TinyFunctions choose_tiny(const Profile& profile, double target) {
    TinyFunctions result;
    std::vector<RegionRow> rows = region_rows(profile);
    std::erase_if(rows, [](const RegionRow& row) { return row.kind != NodeKind::FunctionRegion || row.visits == 0; });
    double computing = 0;
    for (const Location& location : profile.locations) {
        bool has_functions = false;
        double own = 0;
        for (const PhaseData& data : location.phases)
            for_each_cell(data, [&](const Cell& cell) {
                const CallPath& path = profile.paths[cell.path];
                has_functions = has_functions || path.kind == NodeKind::FunctionRegion;
                if (cell.metric == 0 && category_of(profile, path) == TimeCategory::Compute) own += static_cast<double>(cell.value);
            });
        computing += has_functions ? own : 0;
    }
    const double visit = visit_cost_ns(profile);
    const auto cost = [visit](const RegionRow& row) { return static_cast<double>(row.visits) * visit; };
    const auto length = [visit](const RegionRow& row) { // of a visit without what is instrumented inside
        const double own = static_cast<double>(row.inclusive_ns) - static_cast<double>(row.visits_inside) * visit;
        return std::max(own, 0.0) / static_cast<double>(row.visits);
    };
    double unseen = 0;
    for (const RegionRow& row : rows) {
        result.cost_ns += cost(row);
        unseen += static_cast<double>(row.visits) * unseen_cost_ns;
    }
    result.cost_left_ns = result.cost_ns;
    // Costs that were seen count as libprofile's time already.
    const double without = std::max({computing - unseen, computing / 50, 1.0});
    result.computing_ns = without;
    std::stable_sort(rows.begin(), rows.end(), [&](const RegionRow& a, const RegionRow& b) { return length(a) < length(b); });
    for (RegionRow& row : rows) {
        const bool is_tiny = length(row) < worth * visit && cost(row) >= least_share * without;
        if (!is_tiny && result.cost_left_ns <= target * without) continue;
        result.cost_left_ns -= cost(row);
        result.chosen.push_back(std::move(row));
    }
    std::stable_sort(result.chosen.begin(), result.chosen.end(), [](const RegionRow& a, const RegionRow& b) { return a.visits > b.visits; });
    return result;
}

} // namespace libprofile::tools
