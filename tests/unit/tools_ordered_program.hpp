// Generated sequences of calls: a random program, what it calls in order, and the same with known edits.
#pragma once

#include "tests/unit/split_mix.hpp"
#include "tools/structure/ordered_tree.hpp"

#include <vector>

namespace libprofile::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int fewer_rounds = 20; // they take so much longer
#else
inline constexpr int fewer_rounds = 1;
#endif

using tools::CallEvent;
using tools::OrderedTree;

/// Call paths of one or several versions of a program. Path 0 is the root.
struct OrderedProgram {
    std::vector<std::uint32_t> parent{0};
    std::vector<std::uint64_t> key{0};

    std::uint32_t call(std::uint32_t from, std::uint64_t what) {
        for (std::uint32_t path = from + 1; path < parent.size(); ++path)
            if (parent[path] == from && key[path] == what) return path;
        parent.push_back(from);
        key.push_back(what);
        return static_cast<std::uint32_t>(parent.size() - 1);
    }
    OrderedTree tree(const std::vector<CallEvent>& events) const { return *tools::ordered_tree(events, parent, key); }
};

/// Functions (keys below 100) that call others, and events (keys from 100).
inline OrderedProgram random_program(Random& random, std::uint32_t functions, std::uint32_t events, std::uint32_t names) {
    OrderedProgram program;
    for (std::uint32_t i = 0; i < functions; ++i) program.call(static_cast<std::uint32_t>(random() % program.parent.size()), 1 + random() % names);
    const std::size_t inner = program.parent.size();
    for (std::uint32_t i = 0; i < events; ++i) program.call(static_cast<std::uint32_t>(random() % inner), 100 + random() % names);
    return program;
}

/// Mostly what follows the event before, so that there are loops.
inline std::vector<CallEvent> random_events(Random& random, const OrderedProgram& program, std::size_t count) {
    std::vector<std::uint32_t> leaves;
    for (std::uint32_t path = 0; path < program.parent.size(); ++path)
        if (program.key[path] >= 100) leaves.push_back(path);
    std::vector<CallEvent> events;
    std::size_t at = random() % leaves.size();
    while (events.size() < count) {
        events.push_back({leaves[at]});
        at = random() % 4 == 0 ? random() % leaves.size() : (at + 1) % leaves.size();
    }
    return events;
}

/// Some left out, some put in, one in `one_in` each: those of any call path.
inline std::vector<CallEvent> edited(Random& random, const std::vector<CallEvent>& events, std::uint64_t one_in) {
    std::vector<CallEvent> result;
    for (const CallEvent& event : events) {
        if (random() % one_in == 0) result.push_back(events[random() % events.size()]);
        if (random() % one_in != 0) result.push_back(event);
    }
    return result;
}

} // namespace libprofile::test
