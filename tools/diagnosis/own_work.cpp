#include "tools/diagnosis/own_work.hpp"

#include "tools/analysis/inside.hpp"
#include "tools/timeseries/function_class.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

constexpr double least_share = 0.001; // of the location's time: less is not read by iteration

/// What starts communication returns at once, too, but belongs to it; so it is told by the category of functions that do not communicate.
bool is_own_work(const Profile& profile, const CallPath& path) {
    if (path.kind != NodeKind::Mpi) return false;
    const auto& function = profile.functions[path.target];
    return function.category == TimeCategory::MpiOther && function_class(function.name, function.category) == FunctionClass::Computation;
}

} // namespace

TimeCategory work_category(const Profile& profile, const CallPath& path) {
    return is_own_work(profile, path) ? TimeCategory::Compute : category_of(profile, path);
}

double own_work_in_mpi(const Profile& profile, const Location& location) {
    double ns = 0;
    for (const PhaseData& data : location.phases)
        for_each_cell(data, [&](const Cell& cell) {
            if (cell.metric == 0 && is_own_work(profile, profile.paths[cell.path])) ns += static_cast<double>(cell.value);
        });
    return ns;
}

std::vector<double> own_work_in_mpi(const Profile& profile, const Location& location, const PhaseData& data, std::uint64_t first, std::size_t iterations) {
    constexpr std::size_t at_a_time = 256; // iterations: their cells are many
    if (own_work_in_mpi(profile, location) < least_share * static_cast<double>(location.wall_ns)) return {};
    std::vector<double> ns(iterations);
    for (std::size_t begin = 0; begin < iterations; begin += at_a_time) {
        std::vector<IterationRange> each;
        for (std::size_t i = begin; i < std::min(iterations, begin + at_a_time); ++i) each.push_back({first + i, first + i});
        const WithInside with = cells_with_inside(profile, location, data, each);
        for (std::size_t k = 0; k < each.size(); ++k)
            for (const SelectedCell& cell : with.cells[k])
                if (cell.metric == 0 && is_own_work(profile, profile.paths[cell.path])) ns[begin + k] += static_cast<double>(cell.value);
    }
    return ns;
}

} // namespace libprofile::tools
