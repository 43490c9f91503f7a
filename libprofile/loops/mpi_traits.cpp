#include "libprofile/loops/mpi_traits.hpp"

#include "libprofile/base/function_records.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/code/patch.hpp"

namespace libprofile {

namespace {

bool is_collective(std::uint32_t function) noexcept {
    const TimeCategory category = mpi_functions[function].category;
    return category == TimeCategory::MpiColl || category == TimeCategory::MpiSyncColl;
}

bool is_poll(std::uint32_t function) noexcept { return mpi_functions[function].trait == MpiTrait::poll; }

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

bool is_of_datatypes(const Node& node) noexcept { return node.kind == NodeKind::Mpi && mpi_functions[node.a].trait == MpiTrait::datatype; }

const FunctionTraits mpi_traits{is_collective, is_poll, address_of, find_code, is_of_datatypes};

} // namespace libprofile
