#include "tools/analysis/poll_functions.hpp"

#include "libprofile/base/function_records.hpp"

#include <set>
#include <span>

namespace libprofile::tools {

bool is_poll(std::string_view name) {
    static const std::set<std::string_view> polls = [] {
        std::set<std::string_view> names;
        for (const MpiFunction& function : std::span(mpi_functions, mpi_function_count))
            if (function.trait == MpiTrait::poll) names.insert(function.name);
        return names;
    }();
    return polls.contains(name);
}

} // namespace libprofile::tools
