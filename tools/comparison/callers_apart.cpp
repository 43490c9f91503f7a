#include "tools/comparison/callers_apart.hpp"

#include "tools/comparison/group_values.hpp"
#include "tools/comparison/run_values.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

namespace libprofile::tools {

namespace {

constexpr double nearly_all = 0.75;  // of what differs in a function
constexpr double worth_a_row = 0.01; // share of the run

bool computes(const Activities& activities, std::uint32_t node) { return activities.list[activities.of_node[node]].use == TimeUse::Computing; }

bool is_call_of_the_program(TimeUse use) { return use != TimeUse::Computing && use != TimeUse::Measuring && use != TimeUse::NotRecorded; }

/// By node: who calls the function that computes there, or the function that makes the call; 0: nobody.
/// Where all calls of one activity come by the same function, it is a wrapper, and its callers tell more.
std::vector<std::uint32_t> callers_past_wrappers(const Frame& tree, const Activities& activities) {
    const std::vector<std::uint32_t>& parent = tree.nodes.parent;
    std::vector<std::uint32_t> caller(tree.nodes.size());
    std::vector<std::vector<std::uint32_t>> nodes_of(activities.list.size()); // of calls
    for (std::uint32_t n = 1; n < caller.size(); ++n) {
        caller[n] = parent[n];
        if (computes(activities, n)) continue;
        while (caller[n] != 0 && !computes(activities, caller[n])) caller[n] = parent[caller[n]];
        caller[n] = parent[caller[n]];
        nodes_of[activities.of_node[n]].push_back(n);
    }
    for (std::uint32_t a = 0; a < nodes_of.size(); ++a) {
        const std::vector<std::uint32_t>& nodes = nodes_of[a];
        if (!is_call_of_the_program(activities.list[a].use)) {
            for (const std::uint32_t n : nodes) caller[n] = 0;
            continue;
        }
        const auto is_wrapped = [&](std::uint32_t n) { return caller[n] != 0 && tree.nodes.name[caller[n]] == tree.nodes.name[caller[nodes.front()]]; };
        while (!nodes.empty() && std::all_of(nodes.begin(), nodes.end(), is_wrapped))
            for (const std::uint32_t n : nodes) caller[n] = parent[caller[n]];
    }
    return caller;
}

/// Calls of one function by one other.
struct CalledBy {
    std::uint32_t activity = 0;
    std::uint32_t name = 0; // of the caller, in the texts of the tree
};

struct Callers {
    std::vector<CalledBy> list;
    std::vector<std::uint32_t> of_node; // index into `list`; no_row: nobody calls it
};

Callers callers_of(const Frame& tree, const Activities& activities) {
    Callers callers;
    callers.of_node.assign(tree.nodes.size(), no_row);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
    const std::vector<std::uint32_t> caller = callers_past_wrappers(tree, activities);
    for (std::uint32_t n = 1; n < tree.nodes.size(); ++n) {
        if (caller[n] == 0) continue;
        const std::uint32_t activity = activities.of_node[n], name = tree.nodes.name[caller[n]];
        const auto [known, is_new] = numbers.try_emplace({activity, name}, static_cast<std::uint32_t>(callers.list.size()));
        if (is_new) callers.list.push_back({activity, name});
        callers.of_node[n] = known->second;
    }
    return callers;
}

double size(const Change& change) { return std::abs(change.difference()); }

} // namespace

Activities with_callers_apart(const RunGroup& before, const RunGroup& after, const std::string& metric, const Change& mean, const Activities& activities) {
    const Frame& tree = before.runs.front().frame;
    const Callers callers = callers_of(tree, activities);
    const auto differences = [&](std::span<const std::uint32_t> row_of, std::size_t rows) {
        const GroupValues a = values_of(before, metric, row_of, rows), b = values_of(after, metric, row_of, rows);
        std::vector<Change> changes(rows);
        for (std::size_t row = 0; row < rows; ++row) changes[row] = change_of(a, b, row);
        return changes;
    };
    const std::vector<Change> by_caller = differences(callers.of_node, callers.list.size());
    const double least = worth_a_row * std::max(std::abs(mean.before), std::abs(mean.after));
    std::vector<std::uint32_t> apart(activities.list.size(), no_row); // of each function the caller with the largest difference that is not chance
    for (std::uint32_t c = 0; c < by_caller.size(); ++c) {
        if (by_caller[c].is_chance() || size(by_caller[c]) < least) continue;
        if (std::uint32_t& best = apart[callers.list[c].activity]; best == no_row || size(by_caller[c]) > size(by_caller[best])) best = c;
    }
    if (std::all_of(apart.begin(), apart.end(), [](std::uint32_t caller) { return caller == no_row; })) return activities;

    // What is left of a function without that caller has its row; the part below the caller is none of it.
    std::vector<std::uint32_t> rest(activities.of_node);
    std::vector<std::uint32_t> node_of_rest(activities.list.size(), no_row), node_of_part(activities.list.size(), no_row);
    for (std::uint32_t n = 0; n < rest.size(); ++n) {
        const bool is_apart = callers.of_node[n] != no_row && apart[activities.of_node[n]] == callers.of_node[n];
        std::uint32_t& node = (is_apart ? node_of_part : node_of_rest)[activities.of_node[n]];
        if (node == no_row) node = n;
        if (is_apart) rest[n] = no_row;
    }
    const std::vector<Change> of_rest = differences(rest, activities.list.size());

    Activities result = activities;
    std::vector<std::uint32_t> row_of_part(activities.list.size(), no_row);
    for (std::uint32_t a = 0; a < activities.list.size(); ++a) {
        if (apart[a] == no_row || node_of_rest[a] == no_row) continue;
        const Change &part = by_caller[apart[a]], &others = of_rest[a];
        const bool is_of_one_group = (part.before == 0 && others.before != 0) || (part.after == 0 && others.after != 0);
        if (!is_of_one_group && !others.is_chance() && size(part) < nearly_all * (size(part) + size(others))) continue;
        Activity& of_others = result.list[a];
        Activity of_part = of_others;
        of_others.below = other_callers;
        of_others.node = node_of_rest[a];
        of_part.below = short_function_name(tree.texts[callers.list[apart[a]].name]);
        of_part.node = node_of_part[a];
        row_of_part[a] = static_cast<std::uint32_t>(result.list.size());
        result.list.push_back(std::move(of_part));
    }
    for (std::uint32_t n = 0; n < rest.size(); ++n)
        if (const std::uint32_t row = row_of_part[activities.of_node[n]]; rest[n] == no_row && row != no_row) result.of_node[n] = row;
    return result;
}

} // namespace libprofile::tools
