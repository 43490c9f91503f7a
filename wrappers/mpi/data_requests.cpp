#include "wrappers/mpi/data_requests.hpp"

#include "wrappers/mpi/request_table.hpp"

namespace libprofile::data_requests {

namespace {

struct Slot {
    std::atomic<std::uint64_t> key; // handle, then 13 bits of the group, then the kind
};
constexpr unsigned kind_shift = 61;
constexpr std::uint64_t group_mask = (std::uint64_t{1} << (kind_shift - request_handle_bits)) - 1;

OpenRequest of_key(std::uint64_t key) noexcept {
    return {static_cast<DataRequest>(key >> kind_shift), static_cast<std::uint32_t>(key >> request_handle_bits & group_mask)};
}

constinit RequestTable<Slot, 12> table;

} // namespace

bool insert(std::uint64_t handle, OpenRequest open) noexcept {
    return table.add(handle, handle | std::uint64_t{open.group} << request_handle_bits | static_cast<std::uint64_t>(open.kind) << kind_shift) != nullptr;
}

OpenRequest find(std::uint64_t handle) noexcept {
    const Slot* slot = table.find(handle);
    return slot == nullptr ? OpenRequest{} : of_key(slot->key.load());
}

OpenRequest remove(std::uint64_t handle) noexcept { return of_key(table.take(handle)); }

} // namespace libprofile::data_requests
