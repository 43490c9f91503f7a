#include "tools/report/rows.hpp"

#include "tools/analysis/losses.hpp"
#include "tools/analysis/wrappers.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/nearest.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <queue>
#include <tuple>

namespace libprofile::tools {

ReportDocument document_of(const Profile& profile, const ReportChoice& choice) {
    ReportDocument document;
    document.title = printable(profile.job.command.empty() ? "(command unknown)" : profile.job.command);
    std::set<std::uint32_t> chosen(choice.ranks.begin(), choice.ranks.end());
    for (const CompareSide& side : choice.compare) chosen.insert(side.ranks.begin(), side.ranks.end());
    if (choice.compares_ranks() && choice.compare[1].kind == CompareSide::Kind::Rest) chosen.clear();
    for (const Loss& loss : losses(profile, chosen))
        if (loss.group == LossGroup::Missing) document.warnings.push_back(loss.sentence);
    return document;
}

std::vector<const Location*> locations_of(const Profile& profile, const std::vector<std::uint32_t>& ranks, bool all_threads) {
    std::vector<const Location*> list;
    for (const Location& location : profile.locations)
        if ((all_threads || location.thread == 0) && (ranks.empty() || std::binary_search(ranks.begin(), ranks.end(), location.rank)))
            list.push_back(&location);
    return list;
}

void check_path(const ReportChoice& choice, const FunctionTree& tree) {
    if (choice.path.empty() || tree.matches != 0) return;
    std::vector<std::string> names;
    for (const FunctionNode& node : tree.nodes) names.push_back(node.name);
    const std::string near = nearest_name(choice.path, names);
    throw SelectionError(fmt::format("no call path has \"{}\" in the name or the file of a function{}{}", printable(choice.path),
                                     choice.ranks.empty() ? "" : " on these ranks",
                                     near.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", printable(near))));
}

std::string node_text(const FunctionNode& node) { return node.parent < 0 ? std::string("(no call path)") : printable(shown_name(node.kind, node.name)); }

std::vector<FunctionRow> function_rows(const Profile& profile, const FunctionTree& tree) {
    const Wrappers wrappers(profile);
    std::vector<std::uint32_t> path_of(tree.nodes.size()); // one of each node's
    for (std::uint32_t p = 1; p < profile.paths.size(); ++p)
        if (profile.paths[p].kind == tree.nodes[tree.node_of_path[p]].kind) path_of[tree.node_of_path[p]] = p;
    std::vector<FunctionRow> rows;
    std::map<std::tuple<NodeKind, std::string, std::string, std::string>, std::size_t> known;
    for (std::uint32_t n = 0; n < tree.nodes.size(); ++n) {
        const FunctionNode& node = tree.nodes[n];
        std::string caller, through;
        if (is_call(node.kind) && node.parent > 0) {
            const Wrappers::Caller first = wrappers.caller_of(path_of[n]);
            const bool direct = first.through.empty(); // of an interpreter the node has another name
            caller = printable(tree.nodes[direct ? static_cast<std::size_t>(node.parent) : tree.node_of_path[first.path]].name);
            through = printable(first.through);
        }
        const auto [at, added] = known.emplace(std::tuple(node.kind, node.name, caller, through), rows.size());
        if (added) rows.push_back({node_text(node), caller, through, printable(node.source), node.kind, {}});
        rows[at->second].nodes.push_back(n);
    }
    return rows;
}

std::vector<std::uint32_t> shown_nodes(const FunctionTree& tree, const std::vector<double>& weight, std::size_t most) {
    const std::size_t n = tree.nodes.size();
    std::vector<std::uint32_t> heaviest;
    for (std::uint32_t i = 1; i < n; ++i)
        if (weight[i] > 0) heaviest.push_back(i);
    std::stable_sort(heaviest.begin(), heaviest.end(), [&](std::uint32_t a, std::uint32_t b) { return weight[a] > weight[b]; });
    if (most != 0 && heaviest.size() > most) heaviest.resize(most);
    std::vector<char> shown(n, 0);
    for (std::uint32_t node : heaviest)
        for (; node != 0 && shown[node] == 0; node = static_cast<std::uint32_t>(tree.nodes[node].parent)) shown[node] = 1;
    std::vector<std::uint32_t> order, stack = {0};
    while (!stack.empty()) {
        const std::uint32_t node = stack.back();
        stack.pop_back();
        if (node != 0) order.push_back(node);
        std::vector<std::uint32_t> children;
        for (const std::uint32_t child : tree.nodes[node].children)
            if (shown[child] != 0) children.push_back(child);
        std::stable_sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) { return weight[a] > weight[b]; });
        stack.insert(stack.end(), children.rbegin(), children.rend());
    }
    return order;
}

std::string untold_words(const SelectedTree& values, const std::string& side) {
    return fmt::format("{} of the time{} is in phases inside, which this profile does not divide by iteration",
                       percent(static_cast<double>(values.untold) / static_cast<double>(std::max<std::uint64_t>(values.time, 1))),
                       side.empty() ? "" : " of " + side);
}

std::vector<std::string> inside_facts(const SelectedTree& values, const std::string& side) {
    std::vector<std::string> facts;
    if (values.exact_times_only)
        facts.push_back("phases without iterations lie inside: their time in these iterations is exact, but how it was spent is taken from the whole phase");
    if (values.untold != 0) facts.push_back(untold_words(values, side) + ", shown as (no call path); how much of it each function and metric has is not known");
    return facts;
}

std::string path_text(const FunctionTree& tree, std::uint32_t node) {
    constexpr std::size_t longest = 100; // names of a hostile profile
    std::vector<std::uint32_t> chain;
    for (; node != 0 && chain.size() < longest; node = static_cast<std::uint32_t>(tree.nodes[node].parent)) chain.push_back(node);
    std::string out = node == 0 ? "" : "... > ";
    for (std::size_t i = chain.size(); i-- > 0;) out += printable(tree.nodes[chain[i]].name) + (i == 0 ? "" : " > ");
    return out;
}

ReportValue share_of(const SelectedTree& values, const MetricRow& metric, std::size_t m, std::uint64_t value) {
    const bool is_time = metric.unit == "ns";
    if (!is_time && values.untold != 0) return NotKnown();
    const std::uint64_t all = is_time ? values.time : values.inclusive[0][m].value;
    return all == 0 ? 0 : static_cast<double>(value) / static_cast<double>(all);
}

std::string column_label(const MetricRow& metric) { return metric.name == "time" ? "time" : printable(metric.label); }

ReportValue ValueError::report_value() const { return bound < 0 ? ReportValue() : ReportValue(static_cast<std::uint64_t>(std::llround(bound + sampling))); }

bool may_be_off(const ReportChoice& choice, const MetricRow& metric, const SelectedTree& values) {
    return choice.iterations.has_value() || (metric.unit == "ns" && values.sampled != 0);
}

ValueError error_of(const SelectedValue& value, const SelectedTree& all) {
    return {value.bound == no_bound ? -1 : static_cast<double>(value.bound), value.parts.empty() ? 0 : sampling_error(value.parts, all.strata)};
}

} // namespace libprofile::tools
