// Random trees of calls, and edits of them of which it is known what they are.
// Contract: for tests; one thread; allocates freely; recursion as deep as the tree.
#pragma once

#include "tests/unit/split_mix.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace libprofile::test {

/// A call, or a function that makes others, in order. What: a name, or a number in its place.
template <class What> struct EditableCall {
    What what{};
    std::vector<EditableCall> calls;
    bool operator==(const EditableCall&) const = default;
};

/// What functions and calls of a random tree are, by a number below `names`.
template <class What> struct CallNames {
    std::uint64_t names = 0;
    std::size_t most_calls = 0; // of a function
    What (*function)(std::uint64_t) = nullptr;
    What (*call)(std::uint64_t) = nullptr;
};

/// Neighbours that are functions are others: they would be one activation.
template <class What> EditableCall<What> random_call(Random& random, const CallNames<What>& names, int depth) {
    EditableCall<What> call{names.function(random() % names.names), {}};
    const std::size_t count = 1 + random() % names.most_calls;
    while (call.calls.size() < count) {
        EditableCall<What> next =
            depth > 0 && random() % 3 != 0 ? random_call(random, names, depth - 1) : EditableCall<What>{names.call(random() % names.names), {}};
        if (next.calls.empty() || call.calls.empty() || call.calls.back().what != next.what) call.calls.push_back(std::move(next));
    }
    return call;
}

/// All functions, the root first.
template <class What> void collect(EditableCall<What>& call, std::vector<EditableCall<What>*>& functions) {
    if (call.calls.empty()) return;
    functions.push_back(&call);
    for (EditableCall<What>& next : call.calls) collect(next, functions);
}

template <class What> auto place(std::vector<EditableCall<What>>& calls, std::size_t position) { return calls.begin() + static_cast<std::ptrdiff_t>(position); }

/// Does it to a function: before and after. False: it cannot.
template <class What> using CallEdit = std::function<bool(Random&, EditableCall<What>& before, EditableCall<What>& after)>;

/// One of its calls gets another name; false: no function, so it is another call.
template <class What> CallEdit<What> renamed_to(What now) {
    return [now](Random& random, EditableCall<What>&, EditableCall<What>& after) {
        EditableCall<What>& chosen = after.calls[random() % after.calls.size()];
        chosen.what = now;
        return !chosen.calls.empty();
    };
}

/// One of the functions that it calls is there no longer, but what that called is. It is called `small` before.
template <class What> CallEdit<What> inlined(What small) {
    return [small](Random& random, EditableCall<What>& before, EditableCall<What>& after) {
        const std::size_t at = random() % before.calls.size();
        if (before.calls[at].calls.empty()) return false;
        before.calls[at].what = small;
        const std::vector<EditableCall<What>> inside = before.calls[at].calls;
        // Two calls of a function that become neighbours are one activation.
        if (at != 0 && before.calls[at - 1].what == inside.front().what && !inside.front().calls.empty()) return false;
        if (at + 1 != before.calls.size() && before.calls[at + 1].what == inside.back().what && !inside.back().calls.empty()) return false;
        after.calls.erase(place(after.calls, at));
        after.calls.insert(place(after.calls, at), inside.begin(), inside.end());
        return true;
    };
}

/// Two functions in a row change places. Those that call the same one would be neighbours with one activation of it; so their names are their own.
/// @param phase the name of the one at a position
template <class What> CallEdit<What> swapped(const CallNames<What>& names, What (*phase)(std::size_t)) {
    return [names, phase](Random& random, EditableCall<What>& before, EditableCall<What>& after) {
        if (before.calls.size() < 2) return false;
        const std::size_t at = random() % (before.calls.size() - 1);
        for (const std::size_t i : {at, at + 1}) {
            if (before.calls[i].calls.empty()) before.calls[i] = random_call(random, names, 1);
            before.calls[i].what = phase(i);
            after.calls[i] = before.calls[i];
        }
        std::swap(after.calls[at], after.calls[at + 1]);
        return true;
    };
}

} // namespace libprofile::test
