#include "wrappers/mpi/user_operations.hpp"

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/mpi/mpi_modules.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <link.h>
#include <utility>

namespace libprofile {

namespace {

constexpr std::size_t most_operations = 256; // different functions; they are never taken out, as requests may still use them

/// C, Fortran and C++ have four arguments, of which each fits in a register.
using Operation = void (*)(void* in, void* inout, void* length, void* datatype);
std::atomic<void*> operations[most_operations];

[[gnu::noinline]] void call_in_event(const std::atomic<void*>& operation, void* return_address, void* frame, void* in, void* inout, void* length,
                                     void* datatype) {
    const auto function = reinterpret_cast<Operation>(operation.load(std::memory_order_relaxed));
    MpiEvent event(MpiEvent::operation, return_address, frame);
    function(in, inout, length, datatype);
    event.stop();
}

template <std::size_t index> void call_operation(void* in, void* inout, void* length, void* datatype) {
    call_in_event(operations[index], __builtin_return_address(0), LIBPROFILE_OWN_FRAME, in, inout, length, datatype);
}

template <std::size_t... index> constexpr std::array<Operation, sizeof...(index)> callers_of(std::index_sequence<index...>) {
    return {call_operation<index>...};
}
constexpr auto callers = callers_of(std::make_index_sequence<most_operations>());

/// Java's has more arguments, and that of MPI's own C++ layer calls the application's.
bool is_of_bindings(const void* function) noexcept {
    const link_map* module = module_of(function);
    const char* name = module == nullptr ? "" : std::strrchr(module->l_name, '/');
    return name != nullptr && std::strncmp(name, "/libmpi", 7) == 0;
}

} // namespace

void* followed_operation(const MpiEvent& event, void* function) noexcept {
    if (function == nullptr || is_of_bindings(function)) return function;
    for (std::size_t i = 0; i < most_operations; ++i) {
        void* known = nullptr;
        if (operations[i].compare_exchange_strong(known, function, std::memory_order_relaxed) || known == function) return reinterpret_cast<void*>(callers[i]);
    }
    event.count_lost_operation();
    return function;
}

} // namespace libprofile
