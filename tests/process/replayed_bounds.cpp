// Whether estimates are as near to the truth as they say: replays a recording of every iteration in full (LIBPROFILE_CLUSTERS=off) as
// a job would have stored it, with K clusters and values of single iterations within the usual error, and compares what is read of
// parts of it with the recording.
//   replayed_bounds FOLDER K
// Cells are what exports and the page are made of; rows of call paths what the report prints, as text or JSON. Exit code 1 when a
// bound does not hold; the line on stdout counts.
#include "tools/analysis/iterations.hpp"
#include "tools/analysis/selection.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/evaluation/bounded_method.hpp"
#include "tools/evaluation/recording.hpp"
#include "tools/reader/reader.hpp"
#include "tools/report/choice.hpp"
#include "tools/report/selection.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace libprofile::tools;

namespace {

constexpr std::uint32_t metrics = 1u << libprofile::Cell::metric_bits;

struct Count {
    std::uint64_t bounded = 0, off = 0, without_bound = 0, wrong = 0; // off: not the true value, but within its bound
};

void complain(Count& count, const std::string& what, double estimate, double truth, double bound) {
    if (++count.wrong <= 10) std::fprintf(stderr, "%s: %.0f +- %.0f, but in truth %.0f\n", what.c_str(), estimate, bound, truth);
}

/// The cells of each cluster once, in order, as the runtime leaves them.
void add_up(Cluster& cluster) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sums;
    for (const Cell& cell : cluster.cells) sums[{cell.path, cell.metric}] += cell.value;
    cluster.cells.clear();
    for (const auto& [key, value] : sums) cluster.cells.push_back({key.first, key.second, value});
}

PhaseData replayed(const PhaseData& data, const RecordedLocation& recorded, const PathKinds& kinds, std::size_t clusters,
                   const std::shared_ptr<ReplayMemory>& memory) {
    PhaseData stored = join_similar_clusters(data, clusters);
    std::for_each(stored.clusters.begin(), stored.clusters.end(), add_up);
    libprofile::TimeSeries series(memory->arena, memory->pool, libprofile::SeriesSettings{});
    static const libprofile::Cell none{};
    for (const RecordedIteration& iteration : recorded.iterations) {
        std::vector<libprofile::Cell> events;
        for (const libprofile::Cell& cell : iteration.cells)
            if (kind_of_cell(kinds, cell.key) == CellKind::Event) events.push_back(cell);
        series.add(events.empty() ? &none : events.data(), static_cast<std::uint32_t>(events.size()), iteration.condensed.values, iteration.wall_ns,
                   iteration.signatures);
    }
    stored.series = series_data_of(series);
    return stored;
}

void check_cells(const Profile& profile, const PhaseData& stored, const RecordedLocation& recorded, const PathKinds& kinds, IterationRange range, Count& events,
                 Count& sampled) {
    std::map<std::uint32_t, double> truth;
    for (std::uint64_t i = range.first; i <= range.last && i < recorded.iterations.size(); ++i)
        for (const libprofile::Cell& cell : recorded.iterations[i].cells) truth[cell.key] += static_cast<double>(cell.value);
    std::map<std::uint32_t, SelectedCell> found;
    const std::vector<std::vector<SelectedCell>> lists = selected_cells(profile, stored, std::vector<IterationRange>{range});
    for (const SelectedCell& cell : lists.front()) found[cell.path * metrics + cell.metric] = cell;
    for (const auto& [key, value] : truth) found.try_emplace(key); // a value that is not told is one of 0, without an error
    for (const auto& [key, cell] : found) {
        Count& count = kind_of_cell(kinds, key) == CellKind::Event ? events : sampled;
        const auto estimate = static_cast<double>(cell.value);
        const double true_value = truth.contains(key) ? truth.at(key) : 0;
        if (cell.bound == no_bound || cell.guessed) {
            ++count.without_bound;
            continue;
        }
        ++count.bounded;
        count.off += estimate != true_value ? 1 : 0;
        if (std::abs(estimate - true_value) > static_cast<double>(cell.bound) && &count == &events)
            complain(count,
                     "cell " + std::to_string(key / metrics) + " metric " + std::to_string(key % metrics) + ", iterations " + std::to_string(range.first) +
                         "-" + std::to_string(range.last),
                     estimate, true_value, static_cast<double>(cell.bound));
    }
}

struct Row {
    double value = 0, error = -1; // below 0: not told
    bool is_mpi = false;
};

double number_of(const ReportValue& value) {
    if (const auto* whole = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*whole);
    if (const auto* mean = std::get_if<double>(&value)) return *mean;
    return -1;
}

std::map<std::string, Row> rows_of(const ReportDocument& document, const std::string& value) {
    std::map<std::string, Row> rows;
    for (const ReportTable& table : document.tables) {
        if (table.key != "call_paths") continue;
        const auto column = [&](const std::string& key) {
            return static_cast<std::size_t>(std::find_if(table.columns.begin(), table.columns.end(), [&](const ReportColumn& c) { return c.key == key; }) -
                                            table.columns.begin());
        };
        const std::size_t path = column("path"), error = column("error"), kind = column("kind"), at = column(value);
        for (const std::vector<ReportValue>& row : table.rows)
            rows[std::get<std::string>(row.at(path))] = {number_of(row.at(at)), number_of(row.at(error)), std::get<std::string>(row.at(kind)) == "mpi"};
    }
    return rows;
}

void check_rows(const Profile& stored, const Profile& recorded, const std::string& phase, IterationRange range, Count& events, Count& sampled) {
    for (const char* metric : {"time", "visits", "bytes"}) {
        ReportChoice choice;
        choice.phase = phase;
        choice.iterations = range;
        choice.metrics = {metric};
        const SelectionForm form{true, true, ""};
        std::map<std::string, Row> truth, found;
        try {
            truth = rows_of(selection_report(recorded, choice, form), std::string(metric) + "_inclusive");
            found = rows_of(selection_report(stored, choice, form), std::string(metric) + "_inclusive");
        } catch (const SelectionError&) {
            continue; // nothing was measured there
        }
        for (const auto& [path, row] : found) {
            Count& count = row.is_mpi ? events : sampled;
            const double true_value = truth.contains(path) ? truth.at(path).value : 0;
            if (row.error < 0) {
                ++count.without_bound;
                continue;
            }
            ++count.bounded;
            count.off += row.value != true_value ? 1 : 0;
            // Half a unit for the rounding of the printed error.
            if (std::abs(row.value - true_value) <= row.error + 0.5) continue;
            if (row.is_mpi)
                complain(count, std::string(metric) + " of " + path, row.value, true_value, row.error);
            else
                ++count.wrong;
        }
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const Profile recorded = read_profile(std::filesystem::path(argv[1]));
    const Recording recording = extract_recording(recorded);
    const auto memory = std::make_shared<ReplayMemory>();
    Profile stored = recorded;
    std::uint32_t phase = 0;
    while (recorded.phases[phase].name != recording.phase || recorded.phases[phase].kind != libprofile::PhaseKind::Iterations) ++phase;
    const std::size_t n = recording.iterations();
    std::vector<IterationRange> ranges = {{0, 0}, {n / 2, n / 2}, {n - 1, n - 1}, {0, n / 2}, {0, n - 1}, {1, n - 1}};
    for (std::size_t tenth = 0; tenth + 10 <= n && tenth < 100; tenth += 10) ranges.push_back({tenth, tenth + 9});
    Count event_cells, sampled_cells, event_rows, sampled_rows;
    for (const RecordedLocation& location : recording.locations)
        for (Location& to : stored.locations)
            if (to.rank == location.rank && to.thread == location.thread)
                for (PhaseData& data : to.phases)
                    if (data.phase == phase) {
                        data = replayed(data, location, recording.paths, std::strtoul(argv[2], nullptr, 10), memory);
                        for (const IterationRange range : ranges) check_cells(stored, data, location, recording.paths, range, event_cells, sampled_cells);
                    }
    for (const IterationRange range : ranges) check_rows(stored, recorded, recording.phase, range, event_rows, sampled_rows);
    const auto say = [](const char* name, const Count& c) {
        std::printf("%s: %llu with a bound, %llu of them not exact, %llu wrong, %llu without; ", name, static_cast<unsigned long long>(c.bounded),
                    static_cast<unsigned long long>(c.off), static_cast<unsigned long long>(c.wrong), static_cast<unsigned long long>(c.without_bound));
    };
    say("event cells", event_cells);
    say("sampled cells", sampled_cells);
    say("MPI rows", event_rows);
    say("other rows", sampled_rows);
    std::printf("\n");
    // Sampled times have intervals of 95 %, so some may be outside.
    const bool all_hold = event_cells.wrong == 0 && event_rows.wrong == 0;
    const bool was_tested = event_cells.off > 100 && event_rows.off > 10;
    return all_hold && was_tested ? 0 : 1;
}
