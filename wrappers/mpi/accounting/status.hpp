// What a status says of a completed message. Contract: see accounting/all.hpp.
//
// MPI_Get_elements_x and MPI_Test_cancelled would be two calls per message. The fields are in each MPI's public mpi.h and have
// been where they are for a decade, but their meaning is nobody's promise: status_fields_are_known() asks the library once
// whether it still holds.
#pragma once

#include "wrappers/mpi/mpi_h.hpp"

#include <atomic>

namespace libprofile::LIBPROFILE_MPI_NAMESPACE {
namespace {

#ifdef OPEN_MPI
inline std::uint64_t bytes_field(const MPI_Status& status) { return status._ucount; }
inline bool cancelled_field(const MPI_Status& status) { return status._cancelled != 0; }
#elif !defined LIBPROFILE_STANDARD_ABI // the layout that MPICH and its relatives share: 63 bits of count, 1 bit of cancellation
inline std::uint64_t bytes_field(const MPI_Status& status) {
    const auto high = static_cast<std::uint64_t>(static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1);
    return high << 32 | static_cast<std::uint32_t>(status.count_lo);
}
inline bool cancelled_field(const MPI_Status& status) { return (status.count_hi_and_cancelled & 1) != 0; }
#endif

#ifdef LIBPROFILE_STANDARD_ABI // each library may use the fields as it likes
constexpr bool status_fields_are_known() { return false; }
inline std::uint64_t bytes_field(const MPI_Status&) { return 0; }
inline bool cancelled_field(const MPI_Status&) { return false; }
#else
/// Fills a status through MPI and looks whether the fields say the same.
inline bool ask_status_fields() {
    constexpr MPI_Count count = 0x1234567890; // more than 32 bits
    MPI_Status status{};
    if (real.Status_set_elements_x == nullptr || real.Status_set_cancelled == nullptr) return false;
    for (const int cancelled : {1, 0})
        if (real.Status_set_elements_x(&status, MPI_BYTE, count) != MPI_SUCCESS || real.Status_set_cancelled(&status, cancelled) != MPI_SUCCESS ||
            bytes_field(status) != static_cast<std::uint64_t>(count) || cancelled_field(status) != (cancelled != 0))
            return false;
    return true;
}

inline bool status_fields_are_known() {
    static std::atomic<int> known{-1}; // -1: not asked yet
    int answer = known.load(std::memory_order_relaxed);
    if (answer < 0) [[unlikely]] {
        answer = ask_status_fields() ? 1 : 0;
        known.store(answer, std::memory_order_relaxed);
    }
    return answer != 0;
}
#endif

/// Bytes, whatever the datatype of the receive was; 0 when MPI cannot say.
inline std::uint64_t received_bytes(const MPI_Status& status) {
    if (status_fields_are_known()) [[likely]]
        return bytes_field(status);
    MPI_Count count = 0;
    const int result = real.Get_elements_x(&status, MPI_BYTE, &count);
    return result == MPI_SUCCESS && count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

inline bool is_cancelled(const MPI_Status& status) {
    if (status_fields_are_known()) [[likely]]
        return cancelled_field(status);
    int cancelled = 0;
    return real.Test_cancelled(&status, &cancelled) != MPI_SUCCESS || cancelled != 0;
}

/// Stands in for an ignored status while the call runs.
class StatusInPlace {
  public:
    StatusInPlace(const MpiEvent& event, MPI_Status*& status) {
        if (event.counted() && status == MPI_STATUS_IGNORE) status = &own_;
        status_ = status;
    }
    const MPI_Status* get() const { return status_; }
    /// Before a call that may leave the status alone.
    void clear_own() { own_ = {}; }

  private:
    const MPI_Status* status_;
    MPI_Status own_; // MPI fills it
};

} // namespace
} // namespace libprofile::LIBPROFILE_MPI_NAMESPACE
