#include "tools/timeline/passing_calls.hpp"

#include "tools/names/labels.hpp"
#include "tools/timeline/named_paths.hpp"
#include "tools/timeline/task_places.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

bool is_in(const CallFilter::Ranges& ranges, std::uint32_t number) {
    return ranges.empty() || std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) { return range.first <= number && number <= range.second; });
}

} // namespace

bool CallFilter::is_of_threads() const { return only == EventFilter::Kind::All && with.empty() && inside.empty() && !has_limits() && nodes.empty(); }

PassingCalls::PassingCalls(const Profile& profile, const IndexedRows& rows, const RunTypes& types, CallFilter filter)
    : profile_(profile), rows_(rows), filter_(std::move(filter)) {
    NamedPaths names(profile, filter_.with, filter_.inside);
    for (std::uint32_t path = 0; path < profile.paths.size(); ++path) {
        is_with_.push_back(names.is_with(path));
        is_inside_.push_back(names.is_inside(path));
    }
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        has_thread_.push_back(is_in(filter_.ranks, profile.locations[l].rank) && is_in(filter_.threads, profile.locations[l].thread));
        std::vector<bool>& is_with = is_type_with_.emplace_back();
        for (const std::uint32_t type : types.of_path[l]) is_with.push_back(has_type(types.types[type]));
    }
    const bool is_named = !filter_.with.empty() || !filter_.inside.empty();
    for (std::size_t l = 0; l < profile.locations.size(); ++l) nodes_.push_back(is_named && rows[l] != nullptr ? nodes_of(l) : ~std::uint64_t{0});
}

std::uint64_t PassingCalls::nodes_of(std::size_t location) const {
    const IndexedRow& row = *rows_[location];
    const std::vector<std::uint32_t>& paths = *row.block().paths;
    std::uint64_t bits = is_named(0) ? ~std::uint64_t{0} : 0; // nodes behind the last one
    for (std::uint32_t node = 0; node < paths.size(); ++node)
        if (paths[node] < is_with_.size() && is_named(paths[node])) bits |= node_bit(node);
    for (std::size_t p = 0; p < row.index().run_paths.size(); ++p)
        if (is_type_with_[location][p]) bits |= node_bit(row.index().run_paths[p]);
    return bits;
}

bool PassingCalls::is_there(std::size_t location, std::uint16_t processor) const {
    if (!has_thread_[location]) return false;
    if (filter_.nodes.empty()) return true;
    const auto info = profile_.ranks.find(profile_.locations[location].rank);
    const auto node = info == profile_.ranks.end() ? std::nullopt : node_of_processor(info->second, processor);
    return node && is_in(filter_.nodes, *node);
}

bool PassingCalls::has(std::size_t location, const StateCall& call) const {
    if (!(call.is_run() ? filter_.takes_tasks() : filter_.takes_calls()) || !is_there(location, call.processor)) return false;
    const IndexedRow& row = *rows_[location];
    const std::uint32_t path = call.path < row.block().paths->size() ? (*row.block().paths)[call.path] : 0;
    if (path >= is_inside_.size()) return false;
    if (!call.is_run()) return is_as_long(call.end_ns - call.begin_ns) && is_named(path);
    const std::size_t position = row.index().run_path(call.path);
    return is_inside_[path] && position < is_type_with_[location].size() && is_type_with_[location][position];
}

bool PassingCalls::has(const FollowedTasks::Told& task) const {
    if (!filter_.takes_tasks() || !is_as_long(task.own_ns)) return false;
    return std::any_of(task.runs.begin(), task.runs.end(), [&](const TaskRecords::Run& run) {
        return run.path < is_inside_.size() && is_inside_[run.path] && is_there(task.records->threads[run.thread].location, run.processor);
    });
}

bool PassingCalls::has_type(const TaskPlace& type) const { return has_text(printable(type.function) + " " + printable(type.source), filter_.with); }

bool PassingCalls::has_none(std::size_t location, std::uint64_t longest) const {
    if (!has_thread_[location]) return true;
    const bool has_tasks = filter_.takes_tasks() && !rows_[location]->index().run_paths.empty();
    return !has_tasks && !filter_.is_of_threads() && (longest < filter_.least_ns || !filter_.takes_calls());
}

} // namespace libprofile::tools
