#include "wrappers/mpi/data_requests.hpp"

#include "wrappers/mpi/request_table.hpp"

namespace libprofile::data_requests {

namespace {

struct Slot {
    std::atomic<std::uint64_t> key; // handle, kind in the top byte
};
constexpr unsigned kind_shift = 56;

constinit RequestTable<Slot, 12> table;

} // namespace

bool insert(std::uint64_t handle, DataRequest kind) noexcept { return table.add(handle, handle | static_cast<std::uint64_t>(kind) << kind_shift) != nullptr; }

DataRequest kind_of(std::uint64_t handle) noexcept {
    const Slot* slot = table.find(handle);
    return slot == nullptr ? DataRequest::None : static_cast<DataRequest>(slot->key.load() >> kind_shift);
}

DataRequest remove(std::uint64_t handle) noexcept { return static_cast<DataRequest>(table.take(handle) >> kind_shift); }

} // namespace libprofile::data_requests
