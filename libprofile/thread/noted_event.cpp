#include "libprofile/thread/noted_event.hpp"

namespace libprofile {

namespace {

MpiTrait trait_of(const Node& path) noexcept { return is_call(path.kind) ? mpi_functions[path.a].trait : MpiTrait::none; }

} // namespace

[[gnu::hot]] void note_event(Thread& thread, NodeId node, std::uint64_t begin, std::uint64_t length) noexcept {
    note_event(thread, trait_of(thread.tree[node]), node, begin, length);
}

void note_for_order(Thread& thread, NodeId node, std::uint64_t begin, std::uint64_t length) noexcept {
    thread.phases.hooks().order->add(node, thread.tree[node], begin, length);
}

[[gnu::cold]] void note_counts(Thread& thread, NodeId node) noexcept {
    if (thread.listeners.trace && thread.counters.is_on() && trait_of(thread.tree[node]) != MpiTrait::poll) thread.events->add_counts();
}

void note_begin(Thread& thread, NodeId node) noexcept {
    if (thread.listeners.order) thread.phases.hooks().order->add_begin(node);
}

} // namespace libprofile
