#include "tools/frames/over_time.hpp"

#include "tools/analysis/cell_rows.hpp"
#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/export/path_nodes.hpp"
#include "tools/frames/place_values.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <mutex>

namespace libprofile::tools {

namespace {

constexpr std::uint64_t most_cells = std::uint64_t{1} << 24;

/// Time in the program's own code on the processor, of the values of metric_rows.
template <class Values> std::uint64_t computing(const Values& values) {
    const auto row = [&](CatalogueId id) { return values[static_cast<std::size_t>(id)]; };
    return row(CatalogueId::Execution) - row(CatalogueId::OffCpu) - row(CatalogueId::Mpi) - row(CatalogueId::OpenMp);
}

/// What a rank had in all steps: by step and node.
struct RankSteps {
    std::vector<double> values; // exclusive
    std::vector<std::uint8_t> present, estimated;
    std::vector<std::uint64_t> untold; // by step
    std::vector<bool> has_step;        // by step
    std::vector<double> wall, compute; // by step, of the main thread
    bool has_main = false;
    bool is_exact = true; // computing time is

    RankSteps(std::size_t steps, std::size_t nodes)
        : values(steps * nodes), present(steps * nodes), estimated(steps * nodes), untold(steps), has_step(steps), wall(steps), compute(steps) {}
};

class Steps {
  public:
    Steps(const Profile& profile, const OverTimeChoice& choice) : profile_(profile), choice_(choice), phase_(phase_of_choice(profile, choice.table)) {
        const std::vector<std::size_t> rows = rows_of_choice(profile, choice.table);
        if (rows.size() != 1) throw FrameError("steps of iterations are of one metric");
        rows_.emplace(profile, rows);
        if (profile.phases[phase_].kind != PhaseKind::Iterations) throw FrameError("the phase has no iterations");
        number_nodes(metric_rows(profile)[rows[0]]);
        cut();
    }

    OverTime result() {
        std::vector<std::vector<const Location*>> ranks; // their locations
        for (const Location* location : locations_of_choice(profile_, choice_.table)) {
            if (ranks.empty() || ranks.back().front()->rank != location->rank) ranks.emplace_back();
            ranks.back().push_back(location);
        }
        const std::size_t steps = out_.steps.size(), nodes = out_.tree.nodes.size();
        for (std::vector<double>* array : {&out_.mean, &out_.max}) array->assign(steps * nodes, 0);
        out_.present.assign(steps * nodes, 0);
        out_.estimated.assign(steps * nodes, 0);
        out_.untold.assign(steps, 0);
        out_.ranks.assign(steps, 0);
        inclusive_.assign(steps * nodes, 0);
        for (std::vector<double>* array : {&out_.wall, &out_.mean_compute, &out_.most_compute}) array->assign(steps, 0);
        out_.estimated_compute.assign(steps, 0);
        mains_.assign(steps, 0);
        // A few ranks at a time; they are added in their order, so that the result is the same whichever is faster.
        constexpr std::size_t batch = 4;
        for (std::size_t first = 0; first < ranks.size(); first += batch) {
            std::vector<RankSteps> some(std::min(batch, ranks.size() - first), RankSteps(steps, nodes));
            in_parallel(some.size(), [&](std::size_t r) {
                for (const Location* location : ranks[first + r]) take(*location, some[r]);
            });
            for (RankSteps& rank : some) add(rank);
        }
        for (std::size_t s = 0; s < steps; ++s) {
            for (std::size_t n = s * nodes; n < (s + 1) * nodes; ++n) out_.mean[n] /= std::max<double>(1, out_.ranks[s]);
            out_.mean_compute[s] /= std::max<double>(1, mains_[s]);
            out_.hot_path.push_back(hot_path_of(out_.tree, std::span(inclusive_).subspan(s * nodes, nodes), {{}, choice_.threshold, false}));
        }
        return std::move(out_);
    }

  private:
    void number_nodes(const MetricRow& row) {
        PathNodes nodes(profile_, choice_.table.by_line, choice_.table.short_names, path_weights(profile_));
        node_of_.assign(profile_.paths.size(), 0);
        for (std::uint32_t p = 1; p < profile_.paths.size(); ++p) node_of_[p] = nodes.of_path(node_of_[profile_.paths[p].parent], p);
        for (std::uint32_t n = 0; n < nodes.size(); ++n) {
            const PathNodes::Node& node = nodes[n];
            out_.tree.add_node(node.parent, name_of(node.kind), nodes.texts()[node.name], nodes.texts()[node.file], node.line, nodes.texts()[node.module]);
        }
        for (const Location* location : locations_of_choice(profile_, choice_.table)) {
            const auto rank = profile_.ranks.find(location->rank);
            out_.tree.places.push_back({location->rank, location->thread, rank == profile_.ranks.end() ? "" : rank->second.host});
        }
        FrameColumn& column = out_.tree.columns.emplace_back();
        column.metric = row.name;
        column.unit = row.unit;
        column.begin.resize(out_.tree.places.size() + 1);
    }

    void cut() {
        std::uint64_t all = 0;
        for (const Location& location : profile_.locations)
            if (const PhaseData* data = find_phase(&location, phase_)) all = std::max<std::uint64_t>(all, data->cluster_of_iteration.size());
        const IterationRange range = choice_.table.iterations.value_or(IterationRange{});
        if (range.first >= all) throw FrameError("the phase has no such iterations");
        const std::uint64_t last = std::min(range.last, all - 1), stride = std::max<std::uint64_t>(1, choice_.stride);
        const std::uint64_t steps = (last - range.first) / stride + 1;
        if (steps > most_cells / out_.tree.nodes.size())
            throw FrameError(fmt::format("{} steps of {} nodes are too many; choose iterations, or a stride of at least {}", steps, out_.tree.nodes.size(),
                                         (last - range.first + 1) * out_.tree.nodes.size() / most_cells + 1));
        for (std::uint64_t first = range.first; first <= last; first += stride) out_.steps.push_back({first, std::min(last, first + stride - 1)});
    }

    void take(const Location& location, RankSteps& to) const {
        const PhaseData* data = find_phase(&location, phase_);
        if (data == nullptr) return;
        const std::size_t nodes = out_.tree.nodes.size();
        const bool has_inside = data->wall_inclusive_ns != data->wall_ns && !choice_.table.exclusive;
        std::vector<std::vector<SelectedCell>> cells;
        if (has_inside) {
            WithInside all = cells_with_inside(profile_, location, *data, out_.steps);
            cells = std::move(all.cells);
            for (std::size_t s = 0; s < to.untold.size(); ++s) to.untold[s] += all.untold[s];
        } else {
            cells = selected_cells(profile_, *data, out_.steps);
        }
        std::vector<std::uint64_t> sums(nodes);
        for (std::size_t s = 0; s < out_.steps.size(); ++s) {
            if (out_.steps[s].first >= data->cluster_of_iteration.size()) break;
            to.has_step[s] = true;
            std::vector<std::uint32_t> used;
            for (const SelectedCell& cell : cells[s]) {
                if (cell.value == 0 || rows_->of(cell.path, cell.metric).empty()) continue;
                const std::uint32_t node = node_of_[cell.path];
                sums[node] += cell.value;
                used.push_back(node);
                to.present[s * nodes + node] = 1;
                to.estimated[s * nodes + node] |= cell.estimated ? 1 : 0;
            }
            for (const std::uint32_t node : used) { // a second time there is nothing left
                to.values[s * nodes + node] += static_cast<double>(static_cast<std::int64_t>(sums[node]));
                sums[node] = 0;
            }
        }
        if (location.thread == 0) take_times(location, *data, has_inside, to);
    }

    /// Of iterations whose own values were kept.
    void take_times(const Location& location, const PhaseData& data, bool has_inside, RankSteps& to) const {
        const std::uint64_t iterations = data.cluster_of_iteration.size();
        const std::vector<std::uint64_t>& times = data.iteration_ns;
        const RowsInside inside = has_inside ? rows_inside(profile_, location, data) : RowsInside();
        to.has_main = true;
        to.is_exact = inside.is_exact;
        std::vector<double> compute(iterations, std::nan(""));
        if (data.series) {
            SeriesReader reader(*data.series, false);
            for (std::size_t i = 0; i < iterations && reader.next(); ++i)
                if (reader.has_totals() && inside.is_told(i))
                    compute[i] = static_cast<double>(computing(reader.condensed()) + (inside.rows.empty() ? 0 : computing(inside.rows[i])));
        }
        for (std::size_t s = 0; s < out_.steps.size(); ++s)
            for (std::uint64_t i = out_.steps[s].first; i <= out_.steps[s].last && i < iterations; ++i) {
                to.wall[s] += static_cast<double>(times[i]);
                to.compute[s] += compute[i];
            }
    }

    void add(RankSteps& rank) {
        const std::size_t nodes = out_.tree.nodes.size();
        const std::vector<std::uint32_t>& parent = out_.tree.nodes.parent;
        std::vector<double> inclusive;
        for (std::size_t s = 0; s < out_.steps.size(); ++s) {
            out_.untold[s] += rank.untold[s];
            if (!rank.has_step[s]) continue;
            ++out_.ranks[s];
            const std::size_t at = s * nodes;
            inclusive.assign(rank.values.begin() + static_cast<std::ptrdiff_t>(at), rank.values.begin() + static_cast<std::ptrdiff_t>(at + nodes));
            add_callees(out_.tree, inclusive);
            for (std::size_t n = nodes; choice_.inclusive && n-- > 1;) {
                rank.present[at + parent[n]] |= rank.present[at + n];
                rank.estimated[at + parent[n]] |= rank.estimated[at + n];
            }
            for (std::size_t n = 0; n < nodes; ++n) {
                const double value = choice_.inclusive ? inclusive[n] : rank.values[at + n];
                out_.mean[at + n] += value;
                out_.max[at + n] = out_.ranks[s] == 1 ? value : std::max(out_.max[at + n], value);
                out_.present[at + n] += rank.present[at + n];
                out_.estimated[at + n] |= rank.estimated[at + n];
                inclusive_[at + n] += inclusive[n];
            }
            if (!rank.has_main) continue;
            ++mains_[s];
            out_.estimated_compute[s] |= rank.is_exact ? 0 : 1;
            out_.wall[s] = std::max(out_.wall[s], rank.wall[s]);
            out_.mean_compute[s] += rank.compute[s];
            // Unknown once, unknown for good.
            out_.most_compute[s] =
                std::isnan(rank.compute[s]) || std::isnan(out_.most_compute[s]) ? std::nan("") : std::max(out_.most_compute[s], rank.compute[s]);
        }
    }

    const Profile& profile_;
    const OverTimeChoice& choice_;
    std::uint32_t phase_;
    std::optional<CellRows> rows_;
    std::vector<std::uint32_t> node_of_; // by call path
    std::vector<double> inclusive_;      // by step and node: sums over ranks
    std::vector<std::uint32_t> mains_;   // by step: main threads
    OverTime out_;
};

} // namespace

OverTime over_time(const Profile& profile, const OverTimeChoice& choice) { return Steps(profile, choice).result(); }

} // namespace libprofile::tools
