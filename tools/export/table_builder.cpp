// Makes the call table of a choice: see call_table.hpp.
#include "tools/export/call_table.hpp"

#include "tools/analysis/cell_rows.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/export/path_nodes.hpp"
#include "tools/export/phase_nodes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

namespace libprofile::tools {

namespace {

class Builder {
  public:
    Builder(const Profile& profile, const TableChoice& choice)
        : profile_(profile), choice_(choice), rows_(rows_of_choice(profile, choice)), metrics_(profile, rows_),
          nodes_(profile, choice.by_line, choice.short_names, path_weights(profile)) {
        const std::vector<MetricRow> all = metric_rows(profile);
        for (const std::size_t row : rows_) table_.metrics.push_back(all[row]);
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
        finish_nodes();
        return std::move(table_);
    }

  private:
    static constexpr std::uint32_t no_phase = std::numeric_limits<std::uint32_t>::max();
    using KnownNodes = std::unordered_map<std::uint32_t, std::uint32_t>; // by call path

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
        for (auto step = chain.rbegin(); step != chain.rend(); ++step) node = known[*step] = nodes_.of_path(node, *step);
        return node;
    }

    /// What has no call path is with the program, but what lies in a phase stays there.
    std::uint32_t pathless(std::uint32_t top) { return top == 0 ? 0 : nodes_.other(top, TableNode::Other, "(no call path)"); }

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
            const std::vector<IterationRange> parts = choice_.parts.empty() ? std::vector{range} : choice_.parts;
            const std::vector<std::size_t> targets(parts.size()); // all parts are one selection
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
                const WithInside all = cells_with_inside(profile_, location, *data, parts, targets, 1, choice_.with_errors);
                for (const SampledSelection& selection : all.sampled) add_sampled(selection);
                add_cells(all.cells.front(), 0, no_phase);
                table_.untold += all.untold.front();
            } else if (data != nullptr && !choice_.parts.empty()) {
                add_cells(selected_cells(profile_, *data, parts, targets, 1).front(), 0, no_phase);
                if (choice_.with_errors) add_sampled(sampled_selection(profile_, *data, parts));
            } else if (data != nullptr) {
                add_phase(*data, range);
            }
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
            top = nodes_.other(node_of(path, 0, known_[0], no_phase), TableNode::Phase, phase.name);
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
            add_cells(cells[r], nodes_.other(top, TableNode::Iterations, name), inside);
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
        sort_values(values_);
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
        sampled.parts.resize(nodes_.size());
        sampled.is_unknown.resize(nodes_.size());
        for (auto& [node, parts] : parts_) sampled.parts[node] = std::move(parts);
        for (const std::uint32_t node : unknown_) sampled.is_unknown[node] = true;
    }

    /// Numbers the nodes by their call paths, unless phases are nodes.
    void finish_nodes() {
        std::vector<std::uint32_t> numbers(nodes_.size());
        if (choice_.instances == 0)
            numbers = nodes_.sorted_numbers();
        else
            std::iota(numbers.begin(), numbers.end(), 0u);
        table_.nodes.resize(nodes_.size());
        for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
            const PathNodes::Node& node = nodes_[n];
            const TextPool& texts = nodes_.texts();
            table_.nodes[numbers[n]] = {numbers[node.parent], node.kind, texts[node.name], texts[node.file], node.line, texts[node.module]};
        }
        if (choice_.instances == 0) {
            table_.node_of_path.resize(profile_.paths.size());
            for (const auto& [path, node] : known_[0]) table_.node_of_path[path] = numbers[node];
        }
        for (std::vector<CallTable::Value>& values : table_.values) {
            for (CallTable::Value& value : values) value.node = numbers[value.node];
            sort_values(values);
        }
        for (CallTable::Sampled& sampled : table_.sampled) {
            CallTable::Sampled sorted;
            sorted.parts.resize(nodes_.size());
            sorted.is_unknown.resize(nodes_.size());
            for (std::size_t n = 0; n < sampled.parts.size(); ++n) {
                sorted.parts[numbers[n]] = std::move(sampled.parts[n]);
                sorted.is_unknown[numbers[n]] = sampled.is_unknown[n];
            }
            sampled.parts = std::move(sorted.parts);
            sampled.is_unknown = std::move(sorted.is_unknown);
        }
    }

    static void sort_values(std::vector<CallTable::Value>& values) {
        std::sort(values.begin(), values.end(),
                  [](const CallTable::Value& a, const CallTable::Value& b) { return std::pair(a.node, a.metric) < std::pair(b.node, b.metric); });
    }

    const Profile& profile_;
    const TableChoice& choice_;
    std::vector<std::size_t> rows_;
    CellRows metrics_;
    PathNodes nodes_;
    std::optional<PhaseNodes> phase_nodes_; // with nodes for phases
    CallTable table_;
    std::map<std::uint32_t, KnownNodes> known_; // by top
    // Of a location.
    std::vector<CallTable::Value> values_;
    SampledStrata strata_;
    std::map<std::uint32_t, SampledParts> parts_; // by node
    std::set<std::uint32_t> unknown_;             // nodes
};

} // namespace

std::vector<std::size_t> rows_of_choice(const Profile& profile, const TableChoice& choice) {
    MetricValues sums(metric_rows(profile).size());
    for (const Location& location : profile.locations) add(sums, totals(profile, location));
    return rows_of_choice(profile, choice, sums);
}

std::vector<std::size_t> rows_of_choice(const Profile& profile, const TableChoice& choice, const MetricValues& sums) {
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
    for (std::size_t r = 0; r < rows.size(); ++r)
        if (r == 0 || rows[r].name == "visits" ||
            (sums[r] != 0 && (!choice.metrics.empty() || (rows[r].parent < 0 && rows[r].name != "visits_timed_together"))))
            chosen.push_back(r);
    return chosen;
}

CallTable make_call_table(const Profile& profile, const TableChoice& choice) {
    if (choice.source) return choice.source(choice);
    CallTable table = Builder(profile, choice).table();
    const bool empty = std::all_of(table.values.begin(), table.values.end(), [](const auto& v) { return v.empty(); });
    if (empty) throw ExportError(nothing_measured);
    return table;
}

} // namespace libprofile::tools
