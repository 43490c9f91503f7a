#include "tools/export/path_nodes.hpp"

#include "tools/names/labels.hpp"

#include <algorithm>
#include <numeric>

namespace libprofile::tools {

namespace {

TableNode node_kind(NodeKind kind) {
    switch (kind) {
    case NodeKind::Frame:
    case NodeKind::Python:
    case NodeKind::Unknown: return TableNode::Function;
    case NodeKind::Inlined: return TableNode::Inlined;
    case NodeKind::Mpi: return TableNode::Mpi;
    case NodeKind::OpenMp: return TableNode::OpenMp;
    case NodeKind::FunctionRegion: return TableNode::Function;
    default: return TableNode::Other;
    }
}

} // namespace

PathNodes::PathNodes(const Profile& profile, bool by_line, bool short_names, std::vector<std::uint64_t> weight)
    : profile_(profile), by_line_(by_line), short_names_(short_names), weight_(std::move(weight)) {
    const std::string& program = profile.job.executable;
    numbers_.reserve(profile.paths.size());
    nodes_.push_back({0, TableNode::Program, texts_.number(program.empty() ? "(program)" : base_name(program)), 0, texts_.number(program), 0});
    line_weight_.push_back(0);
    line_path_.push_back(no_path);
    first_path_.push_back(0);
}

PathNodes::Node PathNodes::label(const CallPath& path) {
    // Off-CPU time is called after what is above it; all others have the same label wherever they are.
    const bool is_same_everywhere = (path.kind == NodeKind::Frame || path.kind == NodeKind::FunctionRegion || is_call(path.kind));
    const std::uint64_t key = static_cast<std::uint64_t>(path.kind) << 32 | path.target;
    if (is_same_everywhere)
        if (const auto known = labels_.find(key); known != labels_.end()) return known->second;
    Label label = label_of(profile_, path);
    if (short_names_) label.name = short_function_name(label.name);
    const Node node{0,
                    node_kind(path.kind),
                    texts_.number(label.name),
                    texts_.number(label.file),
                    texts_.number(label.module),
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(label.line, std::numeric_limits<std::uint32_t>::max()))};
    if (is_same_everywhere) labels_.emplace(key, node);
    return node;
}

std::uint32_t PathNodes::child(const Node& node, std::uint64_t weight, std::uint32_t path) {
    const Key key{node.parent, static_cast<std::uint32_t>(node.kind), node.name, node.file, by_line_ ? node.line : 0, node.module};
    const auto [entry, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
    const std::uint32_t number = entry->second;
    if (is_new) {
        nodes_.push_back(node);
        line_weight_.push_back(weight);
        line_path_.push_back(path);
        first_path_.push_back(path);
        return number;
    }
    first_path_[number] = std::min(first_path_[number], path);
    if (weight > line_weight_[number] || (weight == line_weight_[number] && path < line_path_[number])) {
        line_weight_[number] = weight;
        line_path_[number] = path;
        nodes_[number].line = node.line;
    }
    return number;
}

std::uint32_t PathNodes::of_path(std::uint32_t parent, std::uint32_t path) {
    Node node = label(profile_.paths[path]);
    node.parent = parent;
    return child(node, weight_[path], path);
}

std::uint32_t PathNodes::other(std::uint32_t parent, TableNode kind, const std::string& name) { return child({parent, kind, texts_.number(name)}, 0, no_path); }

std::vector<std::uint32_t> PathNodes::sorted_numbers() const {
    std::vector<std::uint32_t> order(nodes_.size()), numbers(nodes_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return first_path_[a] < first_path_[b]; });
    for (std::uint32_t i = 0; i < order.size(); ++i) numbers[order[i]] = i;
    return numbers;
}

std::vector<std::uint64_t> path_weights(const Profile& profile) {
    std::vector<std::uint64_t> weights(profile.paths.size());
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases)
            for_each_cell(data, [&](const Cell& cell) {
                if (cell.metric == 0) weights[cell.path] += cell.value;
            });
    add_callees(profile, weights);
    return weights;
}

void add_callees(const Profile& profile, std::vector<std::uint64_t>& times) {
    for (std::size_t p = times.size(); p-- > 1;) times[profile.paths[p].parent] += times[p];
}

} // namespace libprofile::tools
