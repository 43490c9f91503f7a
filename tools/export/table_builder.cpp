// Makes the call table of a choice: see call_table.hpp.
#include "tools/export/call_table.hpp"

#include "tools/analysis/cell_rows.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/export/phase_nodes.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

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

class Builder {
  public:
    Builder(const Profile& profile, const TableChoice& choice)
        : profile_(profile), choice_(choice), rows_(rows_of_choice(profile, choice)), metrics_(profile, rows_) {
        const std::vector<MetricRow> all = metric_rows(profile);
        for (const std::size_t row : rows_) table_.metrics.push_back(all[row]);
        const std::string& program = profile.job.executable;
        table_.nodes.push_back({0, TableNode::Program, program.empty() ? "(program)" : base_name(program), "", 0, program});
        weigh();
        if (choice.instances != 0) phase_nodes_.emplace(profile);
    }

    CallTable table() {
        for (const Location* location : locations_of_choice(profile_, choice_)) {
            CallTable::Location added{location->rank, location->thread, "", 0};
            if (const auto rank = profile_.ranks.find(location->rank); rank != profile_.ranks.end()) {
                added.host = rank->second.host;
                added.pid = rank->second.pid;
            }
            table_.locations.push_back(std::move(added));
            values_.clear();
            parts_.clear();
            unknown_.clear();
            strata_ = {};
            add(*location);
            finish();
            if (choice_.with_errors) finish_sampled();
        }
        return std::move(table_);
    }

  private:
    static constexpr std::uint32_t no_phase = std::numeric_limits<std::uint32_t>::max();
    using KnownNodes = std::unordered_map<std::uint32_t, std::uint32_t>; // by call path
    using Key = std::tuple<std::uint32_t, TableNode, std::string, std::string, std::uint64_t, std::string>;

    /// Time of each call path and all below it: decides which line stands for a function.
    void weigh() {
        weight_.resize(profile_.paths.size());
        for (const Location& location : profile_.locations)
            for (const PhaseData& data : location.phases)
                for_each_cell(data, [&](const Cell& cell) {
                    if (cell.metric == 0) weight_[cell.path] += cell.value;
                });
        for (std::size_t p = profile_.paths.size(); p-- > 1;) weight_[profile_.paths[p].parent] += weight_[p];
    }

    std::uint32_t child(std::uint32_t parent, CallTable::Node node, std::uint64_t weight) {
        node.parent = parent;
        Key key{parent, node.kind, node.name, node.file, choice_.by_line ? node.line : 0, node.module};
        const auto [entry, is_new] = numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(table_.nodes.size()));
        if (is_new) {
            table_.nodes.push_back(std::move(node));
            line_weight_.resize(table_.nodes.size());
        }
        const std::uint32_t number = entry->second;
        if (is_new || weight > line_weight_[number]) {
            line_weight_[number] = weight;
            if (!is_new) table_.nodes[number].line = node.line;
        }
        return number;
    }

    /// The node of a call path below `top`.
    /// @param phase where not `no_phase`: `top` stands for the function that the phase lies in
    std::uint32_t node_of(std::uint32_t path, std::uint32_t top, KnownNodes& known, std::uint32_t phase) {
        const auto is_top = [&](std::uint32_t at) { return at == 0 || (phase != no_phase && phase_nodes_->is_at(phase, at)); };
        if (is_top(path)) return top;
        // Not recursive: a damaged profile may be a million calls deep.
        std::vector<std::uint32_t> chain;
        auto found = known.find(path);
        for (; !is_top(path) && found == known.end(); found = known.find(path)) {
            chain.push_back(path);
            path = profile_.paths[path].parent;
        }
        std::uint32_t node = is_top(path) ? top : found->second;
        for (auto step = chain.rbegin(); step != chain.rend(); ++step) {
            const CallPath& call = profile_.paths[*step];
            Label label = label_of(profile_, call);
            if (choice_.short_names) label.name = short_function_name(label.name);
            node = known[*step] =
                child(node, {0, node_kind(call.kind), std::move(label.name), std::move(label.file), label.line, std::move(label.module)}, weight_[*step]);
        }
        return node;
    }

    /// What has no call path is with the program, but what lies in a phase stays there.
    std::uint32_t pathless(std::uint32_t top) { return top == 0 ? 0 : child(top, {0, TableNode::Other, "(no call path)", "", 0, ""}, 0); }

    void add_cells(const std::vector<SelectedCell>& cells, std::uint32_t top, std::uint32_t phase) {
        if (cells.empty()) return;
        KnownNodes& known = known_[top];
        for (const SelectedCell& cell : cells) {
            const std::vector<std::uint32_t>& into = metrics_.of(cell.path, cell.metric);
            if (into.empty() || cell.value == 0) continue;
            const std::uint32_t node = cell.path == 0 ? pathless(top) : node_of(cell.path, top, known, phase);
            for (const std::uint32_t metric : into) values_.push_back({node, metric, cell.value, cell.estimated});
            if (cell.scaled && cell.metric == 0) unknown_.insert(node);
        }
    }

    void add_sampled(const SampledSelection& selection) {
        strata_.add(selection,
                    [&](std::uint32_t path, std::uint32_t stratum, double ns) { add_part(parts_[node_of(path, 0, known_[0], no_phase)], stratum, ns); });
    }

    void add(const Location& location) {
        if (choice_.iterations || choice_.has_phase) {
            const std::uint32_t phase = phase_of_choice(profile_, choice_);
            const std::string& name = profile_.phases[phase].name;
            const IterationRange range = choice_.iterations.value_or(IterationRange{});
            if (choice_.iterations && range.last != std::numeric_limits<std::uint64_t>::max())
                table_.scope = fmt::format("iterations {}-{} of {}", range.first + 1, range.last + 1, name);
            else if (choice_.iterations)
                table_.scope = fmt::format("iterations from {} of {}", range.first + 1, name);
            else
                table_.scope = name.empty() ? "outside all phases" : "phase " + name;
            const PhaseData* data = find_phase(&location, phase);
            // Where phases are nodes each has its own values.
            if (data != nullptr && choice_.instances == 0 && !choice_.exclusive && data->wall_inclusive_ns != data->wall_ns &&
                profile_.phases[phase].kind == PhaseKind::Iterations) {
                const WithInside all = cells_with_inside(profile_, location, *data, std::span(&range, 1), choice_.with_errors);
                for (const SampledSelection& selection : all.sampled) add_sampled(selection);
                add_cells(all.cells.front(), 0, no_phase);
                table_.untold += all.untold.front();
            } else if (data != nullptr)
                add_phase(*data, range);
            return;
        }
        for (const PhaseData& data : location.phases) add_phase(data, {});
    }

    void add_phase(const PhaseData& data, IterationRange range) {
        const Phase& phase = profile_.phases[data.phase];
        const std::uint64_t iterations = data.cluster_of_iteration.size();
        const bool whole = range.first == 0 && range.last >= std::max<std::uint64_t>(iterations, 1) - 1;
        const std::uint64_t last = std::min(range.last, std::max<std::uint64_t>(iterations, 1) - 1);
        std::uint32_t top = 0, inside = no_phase;
        if (choice_.instances != 0 && !phase.name.empty()) {
            inside = data.phase;
            const std::uint32_t path = phase_nodes_->path_of(inside);
            top = child(node_of(path, 0, known_[0], no_phase), {0, TableNode::Phase, phase.name, "", 0, ""}, 0);
        }
        if (choice_.instances == 0 || phase.kind != PhaseKind::Iterations || iterations == 0) {
            if (whole)
                add_cells(selected_cells(data), top, inside);
            else if (range.first < iterations)
                add_cells(selected_cells(profile_, data, std::span(&range, 1)).front(), top, inside);
            if (choice_.with_errors && (whole || range.first < iterations))
                add_sampled(whole ? sampled_selection(profile_, data) : sampled_selection(profile_, data, std::span(&range, 1)));
            return;
        }
        if (range.first >= iterations) return;
        // Borders are the same at all locations, whatever number of iterations one has.
        const std::uint64_t all = std::min(range.last, longest(data.phase) - 1) - range.first + 1;
        const std::uint64_t step = (all + choice_.instances - 1) / choice_.instances;
        std::vector<IterationRange> ranges;
        for (std::uint64_t first = range.first; first <= last; first += step) ranges.push_back({first, std::min(first + step - 1, range.first + all - 1)});
        const auto cells = divided_cells(profile_, data, range, ranges);
        for (std::size_t r = 0; r < ranges.size(); ++r) {
            const std::string name =
                step == 1 ? fmt::format("instance={}", ranges[r].first + 1) : fmt::format("instances={}-{}", ranges[r].first + 1, ranges[r].last + 1);
            add_cells(cells[r], child(top, {0, TableNode::Iterations, name, "", 0, ""}, 0), inside);
        }
    }

    std::uint64_t longest(std::uint32_t phase) const {
        std::size_t most = 1;
        for (const Location& location : profile_.locations)
            if (const PhaseData* data = find_phase(&location, phase)) most = std::max(most, data->cluster_of_iteration.size());
        return most;
    }

    /// Several call paths may have become one node.
    void finish() {
        std::sort(values_.begin(), values_.end(),
                  [](const CallTable::Value& a, const CallTable::Value& b) { return std::pair(a.node, a.metric) < std::pair(b.node, b.metric); });
        std::vector<CallTable::Value>& merged = table_.values.emplace_back();
        for (const CallTable::Value& value : values_) {
            if (!merged.empty() && merged.back().node == value.node && merged.back().metric == value.metric) {
                merged.back().value += value.value;
                merged.back().estimated |= value.estimated;
            } else {
                merged.push_back(value);
            }
            table_.estimated |= value.estimated;
        }
    }

    void finish_sampled() {
        CallTable::Sampled& sampled = table_.sampled.emplace_back();
        sampled.strata = strata_.list();
        sampled.parts.resize(table_.nodes.size());
        sampled.is_unknown.resize(table_.nodes.size());
        for (auto& [node, parts] : parts_) sampled.parts[node] = std::move(parts);
        for (const std::uint32_t node : unknown_) sampled.is_unknown[node] = true;
    }

    const Profile& profile_;
    const TableChoice& choice_;
    std::vector<std::size_t> rows_;
    CellRows metrics_;
    std::optional<PhaseNodes> phase_nodes_; // with nodes for phases
    CallTable table_;
    std::vector<std::uint64_t> weight_;
    std::vector<std::uint64_t> line_weight_;
    std::map<Key, std::uint32_t> numbers_;
    std::map<std::uint32_t, KnownNodes> known_; // by top
    // Of a location.
    std::vector<CallTable::Value> values_;
    SampledStrata strata_;
    std::map<std::uint32_t, SampledParts> parts_; // by node
    std::set<std::uint32_t> unknown_;             // nodes
};

} // namespace

std::vector<std::size_t> rows_of_choice(const Profile& profile, const TableChoice& choice) {
    const std::vector<MetricRow> rows = metric_rows(profile);
    std::vector<std::size_t> chosen;
    if (!choice.metrics.empty() && choice.metrics != std::vector<std::string>{"all"}) {
        for (const std::string& name : choice.metrics) {
            const auto row = std::find_if(rows.begin(), rows.end(), [&](const MetricRow& r) { return r.name == name; });
            if (row == rows.end())
                throw ExportError(fmt::format("there is no metric \"{}\"; docs/metrics.md lists them, for instance time, visits, bytes", name));
            const auto index = static_cast<std::size_t>(row - rows.begin());
            if (std::find(chosen.begin(), chosen.end(), index) == chosen.end()) chosen.push_back(index);
        }
        return chosen;
    }
    // What never occurred in the job would be a column of zeroes. Without a choice: the tops of the metric tree only.
    MetricValues sums(rows.size());
    for (const Location& location : profile.locations) add(sums, totals(profile, location));
    for (std::size_t r = 0; r < rows.size(); ++r)
        if (r == 0 || rows[r].name == "visits" ||
            (sums[r] != 0 && (!choice.metrics.empty() || (rows[r].parent < 0 && rows[r].name != "visits_timed_together"))))
            chosen.push_back(r);
    return chosen;
}

CallTable make_call_table(const Profile& profile, const TableChoice& choice) {
    CallTable table = Builder(profile, choice).table();
    const bool empty = std::all_of(table.values.begin(), table.values.end(), [](const auto& v) { return v.empty(); });
    if (empty) throw ExportError("nothing was measured in what was chosen; choose other iterations, ranks or metrics");
    return table;
}

} // namespace libprofile::tools
