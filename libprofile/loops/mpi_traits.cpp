#include "libprofile/boundaries/code_patch.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/loops/boundary_choice.hpp"
#include "libprofile/session/mpi_events.hpp"

#include <cstring>

namespace libprofile {

namespace {

bool is_collective(std::uint32_t function) noexcept {
    const TimeCategory category = mpi_functions[function].category;
    return category == TimeCategory::MpiColl || category == TimeCategory::MpiSyncColl;
}

bool is_chance(std::uint32_t function) noexcept {
    const char* name = mpi_functions[function].name;
    return std::strstr(name, "Test") != nullptr || std::strstr(name, "probe") != nullptr ||
           std::strstr(name, "get_status") != nullptr;
}

bool find_code(std::uintptr_t address, std::uintptr_t& start, std::uintptr_t& end) noexcept {
    CodeRange range;
    if (!find_function_code(address, range)) return false;
    start = range.start;
    end = range.end;
    return true;
}

NestingAnswer nesting(const Node& often, const Node& seldom) noexcept {
    if (often.kind != NodeKind::Frame || seldom.kind != NodeKind::Frame || often.a != seldom.a) return {};
    const std::uintptr_t bias = load_map[often.a].bias;
    if (load_map.find(bias + often.b) != often.a) return {}; // it is not loaded any more
    return nesting_of(bias + often.b, bias + seldom.b, find_code);
}

} // namespace

const FunctionTraits mpi_traits{is_collective, is_chance, nesting};

} // namespace libprofile
