#include "tools/structure/ordered_tree.hpp"

#include "libprofile/base/hashing.hpp"

#include <algorithm>

#include <sys/mman.h>

namespace libprofile::tools {

void complete_tree(OrderedTree& tree) {
    for (OrderedNode& node : tree.nodes) {
        node.hash = mix(node.key + golden * (node.own + 1u));
        node.events = node.own;
        node.end = 0;
    }
    for (auto i = static_cast<std::uint32_t>(tree.nodes.size()); i-- != 0;) { // so the children of a node come from the last to the first
        OrderedNode& node = tree.nodes[i];
        node.end = std::max(node.end, i + 1);
        if (i == 0) break;
        OrderedNode& parent = tree.nodes[node.parent];
        parent.end = std::max(parent.end, node.end);
        parent.events = (parent.events + node.events) & 0x7fffffff; // never more, but the compiler does not know
        parent.hash = mix(parent.hash * golden + node.hash);
    }
}

namespace {

/// The first access to each page would take most of the time in virtual machines: 0.3 of 0.35 s for 10^6 events.
void ask_for_large_pages(void* memory, std::size_t bytes) {
    constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
    const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + page - 1) / page * page, end = reinterpret_cast<std::uintptr_t>(memory) + bytes;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE); // refused: all works without
}

/// Calls enter(path, event) for each function that an event enters: its own call path last, and the event is null for the others.
template <class Enter>
void for_each_entry(std::span<const CallEvent> events, std::span<const std::uint32_t> parent_of_path, const std::vector<std::uint32_t>& depth, Enter enter) {
    std::vector<std::uint32_t> open{0}, entered; // open: by depth
    for (const CallEvent& event : events) {
        if (event.count == 0 || event.path == 0) continue;
        std::uint32_t around = parent_of_path[event.path];
        for (; depth[around] >= open.size() || open[depth[around]] != around; around = parent_of_path[around]) entered.push_back(around);
        open.resize(depth[around] + 1);
        for (; !entered.empty(); entered.pop_back()) {
            open.push_back(entered.back());
            enter(entered.back(), nullptr);
        }
        open.push_back(event.path);
        enter(event.path, &event);
    }
}

} // namespace

std::optional<OrderedTree> ordered_tree(std::span<const CallEvent> events, std::span<const std::uint32_t> parent_of_path,
                                        std::span<const std::uint64_t> key_of_path, std::size_t most_nodes) {
    std::vector<std::uint32_t> depth(parent_of_path.size());
    for (std::size_t path = 1; path < depth.size(); ++path) depth[path] = depth[parent_of_path[path]] + 1;
    most_nodes = std::min<std::size_t>(most_nodes, 0x7fffffff); // what a node can count
    std::uint64_t count = 1;                                    // known before, as a vector that grows takes twice the memory
    for_each_entry(events, parent_of_path, depth, [&](std::uint32_t, const CallEvent* event) {
        count += event != nullptr ? std::min<std::uint64_t>(event->count, most_nodes) : 1;
        count = std::min<std::uint64_t>(count, most_nodes + 1);
    });
    if (count > most_nodes) return std::nullopt;
    OrderedTree tree;
    tree.nodes.reserve(count);
    ask_for_large_pages(tree.nodes.data(), count * sizeof(OrderedNode));
    tree.nodes.push_back({.key = key_of_path[0]});
    if (std::any_of(events.begin(), events.end(), [](const CallEvent& event) { return event.time != 0; })) tree.time.resize(count);
    std::vector<std::uint32_t> last(1 + *std::max_element(depth.begin(), depth.end())); // by depth
    for_each_entry(events, parent_of_path, depth, [&](std::uint32_t path, const CallEvent* event) {
        for (std::uint64_t i = 0; i < (event != nullptr ? event->count : 1); ++i) {
            last[depth[path]] = static_cast<std::uint32_t>(tree.nodes.size());
            if (event != nullptr && !tree.time.empty()) tree.time[tree.nodes.size()] = event->time / static_cast<double>(event->count);
            tree.nodes.push_back({.key = key_of_path[path], .path = path, .parent = last[depth[path] - 1], .own = event != nullptr});
        }
    });
    complete_tree(tree);
    return tree;
}

} // namespace libprofile::tools
