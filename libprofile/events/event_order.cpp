#include "libprofile/events/event_order.hpp"

#include "libprofile/base/function_records.hpp"

namespace libprofile {

[[gnu::hot]] void note_order(Thread& thread, NodeId node, std::uint64_t begin, std::uint64_t length) noexcept {
    const Node& path = thread.tree[node];
    if (is_call(path.kind) && !is_of_program(mpi_functions[path.a].trait)) return;
    thread.phases.hooks().order->add(node, path, begin, length);
}

} // namespace libprofile
