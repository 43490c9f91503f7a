#include "tools/reader/numbering.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

template <class Map, class Key> std::uint32_t number_of(Map& map, const Key& key, bool& added) {
    const auto [at, inserted] = map.emplace(key, static_cast<std::uint32_t>(map.size()));
    added = inserted;
    return at->second;
}

std::string module_key(const Module& m) { return m.build_id.empty() ? "p" + m.path : "b" + m.build_id; }

} // namespace

bool map_cells(PhaseData& data, CellNumbers numbers) {
    const auto map = [&](std::vector<Cell>& cells) {
        for (Cell& cell : cells) {
            if (cell.path >= numbers.nodes.size() || cell.metric >= numbers.metrics.size()) return false;
            cell.path = numbers.nodes[cell.path];
            cell.metric = numbers.metrics[cell.metric];
        }
        return true;
    };
    return map(data.rest) && std::all_of(data.clusters.begin(), data.clusters.end(), [&](Cluster& cluster) { return map(cluster.cells); });
}

Numbering::Numbering(Profile& profile) : profile_(profile) {
    profile_.paths.push_back({});
    for (const CatalogueRow& row : metric_catalogue)
        if (row.id == CatalogueId::Total || row.kind == CatalogueKind::Direct) metric({row.name, row.unit, {}});
}

std::uint32_t Numbering::metric(const MetricInfo& info) {
    bool added = false;
    const std::uint32_t id = number_of(metrics_, info.name, added);
    if (added) profile_.metrics.push_back(info);
    return id;
}

std::uint32_t Numbering::module(const Module& raw) {
    bool added = false;
    const std::uint32_t id = number_of(modules_, module_key(raw), added);
    if (added) profile_.modules.push_back(raw);
    return id;
}

std::uint32_t Numbering::function(const Function& raw) {
    bool added = false;
    const std::uint32_t id = number_of(functions_, raw.name, added);
    if (added) profile_.functions.push_back(raw);
    return id;
}

std::uint32_t Numbering::site(std::uint32_t module_id, std::uint64_t offset) {
    bool added = false;
    const std::uint32_t id = number_of(sites_, std::pair(module_id, offset), added);
    if (added) profile_.sites.push_back({module_id, offset, {}, {}});
    return id;
}

std::uint32_t Numbering::phase(const std::string& name, PhaseKind kind) {
    bool added = false;
    const std::uint32_t id = number_of(phases_, std::pair(name, kind), added);
    if (added) profile_.phases.push_back({name, kind});
    return id;
}

std::optional<std::uint32_t> Numbering::known_phase(const std::string& name, PhaseKind kind) const {
    const auto at = phases_.find(std::pair(name, kind));
    return at == phases_.end() ? std::nullopt : std::optional(at->second);
}

std::optional<std::uint32_t> Numbering::known_module(const Module& module) const {
    const auto m = modules_.find(module_key(module));
    return m == modules_.end() ? std::nullopt : std::optional(m->second);
}

std::optional<std::uint32_t> Numbering::known_site(const Module& module, std::uint64_t offset) const {
    const auto m = known_module(module);
    if (!m) return std::nullopt;
    const auto s = sites_.find(std::pair(*m, offset));
    return s == sites_.end() ? std::nullopt : std::optional(s->second);
}

std::uint32_t Numbering::path(const PathKey& key) {
    const auto [at, inserted] = paths_.emplace(key, static_cast<std::uint32_t>(profile_.paths.size()));
    if (inserted) {
        profile_.paths.push_back({key.parent, key.kind, key.target, key.address});
        depths_.push_back(depths_[key.parent] + 1);
    }
    return at->second;
}

bool Numbering::map_tree(const RawTree& tree, const TableNumbers& numbers, std::vector<std::uint32_t>& nodes) {
    nodes.assign(1, 0);
    nodes.reserve(tree.nodes.size() + 1);
    if (paths_.empty()) { // trees of other threads have mostly the same call paths
        paths_.reserve(tree.nodes.size());
        profile_.paths.reserve(tree.nodes.size() + 1);
        depths_.reserve(tree.nodes.size() + 1);
    }
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const NodeRecord& raw = tree.nodes[i];
        PathKey key{nodes[i + 1 - raw.parent_distance], 0, static_cast<NodeKind>(raw.kind), 0};
        if (is_in_module(key.kind)) {
            if (raw.a >= numbers.modules.size()) return false;
            key.target = site(numbers.modules[raw.a], raw.b);
        } else if (is_call(key.kind)) {
            const auto at = numbers.functions.find(raw.a);
            if (at == numbers.functions.end()) return false;
            key.target = at->second;
        } else if (key.kind == NodeKind::Region) {
            if (raw.a >= static_cast<std::uint64_t>(RegionClass::Count)) return false;
            key.target = static_cast<std::uint32_t>(raw.a);
            key.address = raw.b;
        } else if (key.kind == NodeKind::Python) {
            if (raw.a > 0xffffff) return false;
            key.target = static_cast<std::uint32_t>(raw.a);
            key.address = raw.b;
        } else if (key.kind == NodeKind::Unknown) {
            key.address = raw.b;
        }
        nodes.push_back(path(key));
    }
    return true;
}

std::optional<TableNumbers> Numbering::numbers_of(const RawTables& tables) {
    if (!tables.modules || !tables.functions) return std::nullopt;
    TableNumbers numbers;
    for (const Module& m : *tables.modules) numbers.modules.push_back(module(m));
    for (const auto& [id, f] : *tables.functions) numbers.functions[id] = function(f);
    return numbers;
}

std::vector<std::uint32_t> Numbering::nodes_of(const RawTables& tables, const std::optional<TableNumbers>& numbers, std::uint32_t thread) {
    std::vector<std::uint32_t> nodes;
    const auto tree = tables.trees.find(thread);
    if (numbers && tree != tables.trees.end() && !map_tree(tree->second, *numbers, nodes)) nodes.clear();
    return nodes;
}

} // namespace libprofile::tools
