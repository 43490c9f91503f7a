#include "libprofile/loops/mpi_traits.hpp"

#include "libprofile/base/function_records.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/code/patch.hpp"

#include <cstring>

namespace libprofile {

namespace {

bool is_collective(std::uint32_t function) noexcept {
    const TimeCategory category = mpi_functions[function].category;
    return category == TimeCategory::MpiColl || category == TimeCategory::MpiSyncColl;
}

bool is_chance(std::uint32_t function) noexcept {
    const char* name = mpi_functions[function].name;
    return std::strstr(name, "Test") != nullptr || std::strstr(name, "probe") != nullptr || std::strstr(name, "get_status") != nullptr;
}

bool find_code(std::uintptr_t address, std::uintptr_t& start, std::uintptr_t& end) noexcept {
    CodeRange range;
    if (!find_function_code(address, range)) return false;
    start = range.start;
    end = range.end;
    return true;
}

std::uintptr_t address_of(const Node& site) noexcept {
    if (site.kind != NodeKind::Frame) return 0;
    const std::uintptr_t address = load_map[site.a].bias + site.b;
    return load_map.find(address) == site.a ? address : 0;
}

} // namespace

bool is_beside(const Node& node) noexcept {
    if (node.kind != NodeKind::Mpi || mpi_functions[node.a].category != TimeCategory::MpiOther) return false; // asked at every call
    const char* name = mpi_functions[node.a].name;
    return std::strncmp(name, "MPI_Type_", 9) == 0 || std::strncmp(name, "MPI_Pack", 8) == 0 || std::strncmp(name, "MPI_Unpack", 10) == 0;
}

const FunctionTraits mpi_traits{is_collective, is_chance, address_of, find_code, is_beside};

} // namespace libprofile
