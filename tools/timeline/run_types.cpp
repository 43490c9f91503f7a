#include "tools/timeline/run_types.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace libprofile::tools {

namespace {

std::uint32_t path_of(const IndexedRow& row, std::uint32_t node) { return node < row.block().paths->size() ? (*row.block().paths)[node] : 0; }

} // namespace

RunTypes::RunTypes(const Profile& profile, const IndexedRows& rows) : of_path(rows.size()) {
    std::map<std::uint32_t, std::set<std::uint32_t>> made_at; // by rank
    for (std::size_t l = 0; l < rows.size(); ++l)
        if (rows[l] != nullptr)
            for (const std::uint32_t node : rows[l]->index().made_at) made_at[profile.locations[l].rank].insert(path_of(*rows[l], node));
    std::map<std::pair<std::string, std::string>, std::uint32_t> numbers;
    std::vector<std::uint64_t> time;
    for (std::size_t l = 0; l < rows.size(); ++l) {
        if (rows[l] == nullptr) continue;
        const RowIndex& index = rows[l]->index();
        for (const std::uint32_t node : index.run_paths) {
            const std::uint32_t path = path_of(*rows[l], node);
            const bool is_creation = made_at[profile.locations[l].rank].contains(path);
            const TaskPlace type =
                is_creation ? task_type_name(profile, path, path) : TaskPlace{task_place(profile, function_around(profile, path)).function, {}};
            const auto [at, is_new] = numbers.try_emplace({type.function, type.source}, static_cast<std::uint32_t>(types.size()));
            if (is_new) {
                types.push_back(type);
                time.push_back(0);
            }
            of_path[l].push_back(at->second);
        }
        for (const LeafGroup& group : index.groups)
            for (const auto& [position, ns] : group.tasks)
                if (position < of_path[l].size()) time[of_path[l][position]] += ns;
    }
    std::vector<std::uint32_t> order(types.size()), place(types.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return time[a] > time[b]; });
    std::vector<TaskPlace> sorted;
    for (const std::uint32_t type : order) {
        place[type] = static_cast<std::uint32_t>(sorted.size());
        sorted.push_back(std::move(types[type]));
    }
    types = std::move(sorted);
    for (std::vector<std::uint32_t>& of_row : of_path)
        for (std::uint32_t& type : of_row) type = place[type];
}

std::vector<TaskClasses> RunTypes::classes(std::size_t most) const {
    const std::size_t others = std::min(types.size(), most);
    std::vector<TaskClasses> list;
    for (const std::vector<std::uint32_t>& of_row : of_path) {
        TaskClasses& classes = list.emplace_back();
        for (const std::uint32_t type : of_row) classes.push_back(static_cast<std::uint8_t>(1 + std::min<std::size_t>(type, others)));
    }
    return list;
}

} // namespace libprofile::tools
