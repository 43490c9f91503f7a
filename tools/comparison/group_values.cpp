#include "tools/comparison/group_values.hpp"

#include "tools/comparison/run_values.hpp"

namespace libprofile::tools {

GroupValues values_of(const RunGroup& group, std::string_view metric, std::span<const std::uint32_t> row_of, std::size_t rows) {
    GroupValues values;
    for (const Run& run : group.runs) {
        const FrameColumn* column = run.frame.find_column(metric);
        values.push_back(column == nullptr ? std::vector<RunValue>(rows) : mean_values(run, *column, row_of, rows));
    }
    return values;
}

Change change_of(const GroupValues& before, const GroupValues& after, std::size_t row) {
    std::vector<RunValue> a, b;
    for (const auto& run : before) a.push_back(run[row]);
    for (const auto& run : after) b.push_back(run[row]);
    return change_between(a, b);
}

} // namespace libprofile::tools
