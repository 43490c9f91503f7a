#include "tools/comparison/activity.hpp"

#include "tools/comparison/call_places.hpp"
#include "tools/frames/matching_name.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <tuple>

namespace libprofile::tools {

namespace {

/// File and line are those of the call, not of the function that is called.
bool has_call_place(const Frame& tree, std::uint32_t node) { return is_call(tree.texts[tree.nodes.kind[node]]) && tree.nodes.line[node] != 0; }

} // namespace

std::string name_in_all_builds(const Frame& tree, std::uint32_t node) { return short_function_name(std::string(matching_name(tree.name_of(node)))); }

Activities activities_of(const Frame& tree) {
    const FrameNodes& nodes = tree.nodes;
    const std::vector<TimeUse> uses = time_uses(tree);
    Activities result;
    std::map<std::tuple<TimeUse, std::string, std::string, std::string>, std::uint32_t> numbers;
    std::vector<std::uint32_t> top(nodes.size()); // the outermost node of the same kind in a row: the call that was made
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        const std::uint32_t parent = nodes.parent[n];
        const bool computes = uses[n] == TimeUse::Computing;
        top[n] = n != 0 && !computes && uses[parent] == uses[n] ? top[parent] : n;
        Activity activity{uses[n], name_in_all_builds(tree, top[n]), "", tree.texts[nodes.file[top[n]]], nodes.line[top[n]], top[n], ""};
        if (!computes && uses[n] != TimeUse::Measuring && uses[n] != TimeUse::NotRecorded) {
            std::uint32_t caller = nodes.parent[top[n]];
            while (caller != 0 && uses[caller] != TimeUse::Computing) caller = nodes.parent[caller];
            activity.caller = caller == 0 ? "" : name_in_all_builds(tree, caller);
            if (has_call_place(tree, top[n])) {
                activity.line = nodes.line[top[n]];
            } else {
                activity.file = tree.texts[nodes.file[caller]];
                activity.line = 0; // of the caller's begin, or its hottest line: not of this call
            }
        }
        const auto [known, is_new] =
            numbers.try_emplace({activity.use, activity.name, activity.caller, base_name(activity.file)}, static_cast<std::uint32_t>(result.list.size()));
        if (is_new) result.list.push_back(std::move(activity));
        result.of_node.push_back(known->second);
    }
    return result;
}

std::string activity_text(const Activity& activity) {
    std::string text = without_anonymous(activity.name);
    if (!activity.caller.empty()) text += " in " + without_anonymous(activity.caller);
    if (!activity.file.empty()) text += fmt::format(" ({}{})", base_name(activity.file), activity.line == 0 ? "" : fmt::format(":{}", activity.line));
    if (!activity.below.empty()) text += " called by " + without_anonymous(activity.below);
    return printable(text);
}

std::string path_text(const Frame& tree, std::uint32_t node) {
    std::vector<std::string> names;
    for (std::uint32_t n = node; n != 0; n = tree.nodes.parent[n]) names.push_back(without_anonymous(name_in_all_builds(tree, n)));
    if (names.empty()) names.push_back(tree.name_of(node));
    std::reverse(names.begin(), names.end());
    return printable(fmt::format("{}", fmt::join(names, " > ")));
}

} // namespace libprofile::tools
