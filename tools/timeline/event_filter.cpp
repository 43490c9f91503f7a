#include "tools/timeline/event_filter.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace libprofile::tools {

namespace {

std::string duration_words(std::uint64_t ns) { return duration(static_cast<double>(ns), {100, false, false}); }

} // namespace

bool EventFilter::is_active() const {
    return only != Kind::All || !with.empty() || !inside.empty() || least_ns != 0 || most_ns != no_most || !threads.empty() || !processors.empty() ||
           !nodes.empty() || !reads.empty() || !writes.empty();
}

std::string EventFilter::words() const {
    constexpr const char* kinds[] = {"", "calls", "tasks", "regions"};
    std::vector<std::string> words;
    if (only != Kind::All) words.emplace_back(kinds[static_cast<std::size_t>(only)]);
    if (!with.empty()) words.push_back(fmt::format("with \"{}\"", printable(with)));
    if (!inside.empty()) words.push_back(fmt::format("inside \"{}\"", printable(inside)));
    if (least_ns != 0) words.push_back(fmt::format("of {} and longer", duration_words(least_ns)));
    if (most_ns != no_most) words.push_back(fmt::format("of {} at most", duration_words(most_ns)));
    const auto add = [&](const char* what, const std::vector<std::uint32_t>& numbers) {
        if (!numbers.empty()) words.push_back(fmt::format("{} {}", what, fmt::join(numbers, ",")));
    };
    add("thread", threads);
    add("on processor", processors);
    add("on node", nodes);
    add("that read node", reads);
    add("that write node", writes);
    return fmt::format("{}", fmt::join(words, ", "));
}

} // namespace libprofile::tools
