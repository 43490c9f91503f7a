#include "libprofile/thread/noted_event.hpp"

#include "libprofile/base/function_records.hpp"

namespace libprofile {

namespace {

MpiTrait trait_of(const Node& path) noexcept { return is_call(path.kind) ? mpi_functions[path.a].trait : MpiTrait::none; }

} // namespace

[[gnu::hot]] void note_event(Thread& thread, NodeId node, std::uint64_t begin, std::uint64_t length) noexcept {
    const Node& path = thread.tree[node];
    const MpiTrait trait = trait_of(path);
    if (thread.listeners.trace && trait != MpiTrait::poll) thread.events->add(node, begin, begin + length);
    if (thread.listeners.order && is_of_program(trait)) thread.phases.hooks().order->add(node, path, begin, length);
}

[[gnu::cold]] void note_counts(Thread& thread, NodeId node) noexcept {
    if (thread.listeners.trace && thread.counters.is_on() && trait_of(thread.tree[node]) != MpiTrait::poll) thread.events->add_counts();
}

void note_begin(Thread& thread, NodeId node) noexcept {
    if (thread.listeners.order) thread.phases.hooks().order->add_begin(node);
}

} // namespace libprofile
