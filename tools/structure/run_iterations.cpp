#include "tools/structure/run_iterations.hpp"

#include "libprofile/base/hashing.hpp"
#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/analysis/loop_ranks.hpp"
#include "tools/analysis/poll_functions.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/structure/call_order.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <mutex>

namespace libprofile::tools {

namespace {

std::uint64_t hash_of(std::uint64_t key, std::uint64_t metric) { return mix(mix(key + golden) ^ metric) | 1; }

constexpr auto visits_metric = static_cast<std::uint32_t>(Metric::Visits);

/// What a column of a series says of structure.
struct ColumnHash {
    std::uint64_t hash = 0; // 0: nothing
    std::uint32_t key = 0;
    bool is_visits = false;
    std::uint32_t bit = 0; // of visits: position of the key among those of all ranks
};

std::vector<ColumnHash> hashes_of_columns(const Profile& profile, const SeriesData& series, const std::vector<std::uint32_t>& key_of_path) {
    std::vector<ColumnHash> hashes;
    for (const SeriesData::NumberedColumn& numbered : series.numbered_columns()) {
        ColumnHash& added = hashes.emplace_back();
        const CallPath& path = profile.paths[numbered.column.path];
        const bool is_chance = is_call(path.kind) && is_poll(profile.functions[path.target].name);
        if (numbered.is_time || is_chance || numbered.column.metric == static_cast<std::uint32_t>(Metric::TimedTogether)) continue;
        added = {hash_of(key_of_path[numbered.column.path], numbered.column.metric), key_of_path[numbered.column.path],
                 numbered.column.metric == visits_metric};
    }
    return hashes;
}

/// A rank with iterations.
struct RankSeries {
    const Location* location = nullptr;
    const PhaseData* data = nullptr;
    std::vector<ColumnHash> columns;
};

/// Gives all columns of visits their bits. Returns the keys by bit.
std::vector<std::uint32_t> number_keys(std::vector<RankSeries>& ranks) {
    std::vector<std::uint32_t> keys;
    for (const RankSeries& rank : ranks)
        for (const ColumnHash& column : rank.columns)
            if (column.is_visits) keys.push_back(column.key);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (RankSeries& rank : ranks)
        for (ColumnHash& column : rank.columns)
            if (column.is_visits) column.bit = static_cast<std::uint32_t>(std::lower_bound(keys.begin(), keys.end(), column.key) - keys.begin());
    return keys;
}

/// Sums over the ranks that were added.
class Sums {
  public:
    Sums(std::size_t iterations, std::size_t keys)
        : words_((keys + 63) / 64), counts(iterations), visits(iterations), sets(iterations * words_), orders(iterations), calls(iterations), bytes(iterations),
          instructions(iterations), time(iterations), is_unknown(iterations), has_no_order(iterations) {}

    void set(std::size_t iteration, std::uint32_t bit) { sets[iteration * words_ + bit / 64] |= std::uint64_t{1} << bit % 64; }
    /// @param keys by bit
    std::uint64_t hash_of_set(std::size_t iteration, const std::vector<std::uint32_t>& keys) const {
        std::uint64_t hash = 0;
        for (std::size_t w = 0; w < words_; ++w)
            for (std::uint64_t word = sets[iteration * words_ + w]; word != 0; word &= word - 1)
                hash += hash_of(keys[w * 64 + static_cast<std::size_t>(std::countr_zero(word))], visits_metric);
        return hash;
    }
    void add(const Sums& other) {
        const auto all = [](auto& to, const auto& from, auto with) { std::transform(to.begin(), to.end(), from.begin(), to.begin(), with); };
        all(counts, other.counts, std::plus());
        all(visits, other.visits, std::plus());
        all(sets, other.sets, std::bit_or());
        all(orders, other.orders, std::plus());
        all(calls, other.calls, std::plus());
        all(bytes, other.bytes, std::plus());
        all(instructions, other.instructions, std::plus());
        all(time, other.time, std::plus());
        all(is_unknown, other.is_unknown, std::bit_or());
        all(has_no_order, other.has_no_order, std::bit_or());
        has_instructions = has_instructions && other.has_instructions;
    }

  private:
    std::size_t words_;

  public:
    std::vector<std::uint64_t> counts, visits, sets, orders;
    std::vector<double> calls, bytes, instructions, time;
    std::vector<char> is_unknown, has_no_order;
    bool has_instructions = true;
};

/// Rows of metric_rows.
struct Rows {
    std::size_t bytes = 0, instructions = 0; // instructions: past the end if they were not counted
    explicit Rows(const Profile& profile) {
        const std::vector<MetricRow> rows = metric_rows(profile);
        const auto at = [&](std::string_view name) {
            return static_cast<std::size_t>(std::find_if(rows.begin(), rows.end(), [&](const MetricRow& r) { return r.name == name; }) - rows.begin());
        };
        bytes = at("bytes");
        instructions = std::min(at("instructions"), at("PAPI_TOT_INS"));
    }
};

void add_rank(const Profile& profile, const RankSeries& rank, const Rows& rows, const std::vector<std::uint32_t>& key_of_path, Sums& to) {
    const PhaseData& data = *rank.data;
    const std::size_t n = to.time.size();
    to.orders = call_orders(profile, data, key_of_path, n);
    for (std::size_t i = 0; i < n; ++i) to.has_no_order[i] = to.orders[i] == 0 ? 1 : 0;
    const RowsInside inside = rows_inside(profile, *rank.location, data);
    const auto value = [&](const MetricValues& of, std::size_t row) { return row < of.size() ? static_cast<double>(of[row]) : 0.0; };
    const auto add_values = [&](std::size_t i, const MetricValues& of) {
        to.bytes[i] += value(of, rows.bytes);
        to.instructions[i] += value(of, rows.instructions);
    };
    std::optional<SeriesReader> reader;
    if (data.series) reader.emplace(*data.series);
    to.has_instructions = to.has_instructions && data.series && data.series->has_row(rows.instructions);
    for (std::size_t i = 0; i < n; ++i) {
        to.time[i] += i < data.iteration_ns.size() ? static_cast<double>(data.iteration_ns[i]) : 0;
        const bool is_read = reader && reader->next();
        if (is_read && reader->has_totals()) add_values(i, reader->condensed());
        if (i < inside.rows.size()) add_values(i, inside.rows[i]);
        if (!is_read || !reader->has_cells()) {
            to.is_unknown[i] = 1;
            continue;
        }
        reader->for_each_cell([&](std::size_t number, std::uint64_t count) {
            const ColumnHash& column = rank.columns[number];
            to.counts[i] += column.hash * count;
            if (!column.is_visits) return;
            to.visits[i] += column.hash * count;
            to.calls[i] += static_cast<double>(count);
            to.set(i, column.bit);
        });
    }
    if (!data.inside) return;
    for (const InsideData::Entry& entry : data.inside->entries) {
        if (entry.iteration >= n) continue;
        const std::uint64_t hash = hash_of(std::hash<std::string>()(profile.phases[entry.phase].name), std::numeric_limits<std::uint64_t>::max());
        to.counts[entry.iteration] += hash * entry.count;
        to.visits[entry.iteration] += hash * entry.count;
        to.calls[entry.iteration] += static_cast<double>(entry.count);
    }
}

} // namespace

RunIterations run_iterations(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase,
                             const std::vector<std::uint32_t>& key_of_path) {
    RunIterations result;
    std::vector<RankSeries> ranks;
    const LoopRanks of_loop = loop_ranks(locations, phase);
    for (const Location* location : of_loop.locations) {
        RankSeries& added = ranks.emplace_back(RankSeries{location, find_phase(location, phase), {}});
        if (added.data->series) added.columns = hashes_of_columns(profile, *added.data->series, key_of_path);
    }
    result.fewest = of_loop.fewest;
    result.most = of_loop.most;
    result.ranks = ranks.size();
    const std::vector<std::uint32_t> keys = number_keys(ranks);
    const auto n = static_cast<std::size_t>(result.fewest);
    const Rows rows(profile);
    Sums sums(n, keys.size());
    std::mutex adding;
    in_parallel(ranks.size(), [&](std::size_t r) {
        Sums of_rank(n, keys.size());
        add_rank(profile, ranks[r], rows, key_of_path, of_rank);
        const std::lock_guard lock(adding);
        sums.add(of_rank);
    });
    const auto mean = [&](const std::vector<double>& of) {
        std::vector<float> means;
        for (const double sum : of) means.push_back(static_cast<float>(sum / static_cast<double>(ranks.size())));
        return means;
    };
    result.calls = mean(sums.calls);
    result.bytes = mean(sums.bytes);
    if (sums.has_instructions && n != 0) result.instructions = mean(sums.instructions);
    result.time = mean(sums.time);
    result.counts = std::move(sums.counts);
    result.visits = std::move(sums.visits);
    for (std::size_t i = 0; i < n; ++i) result.orders.push_back(ranks.empty() || sums.has_no_order[i] != 0 ? 0 : mix(sums.orders[i]) | 1);
    for (std::size_t i = 0; i < n; ++i) result.call_paths.push_back(sums.hash_of_set(i, keys));
    for (std::size_t i = 0; i < n; ++i)
        if (sums.is_unknown[i] != 0) {
            result.is_known = false;
            result.counts[i] = result.visits[i] = result.call_paths[i] = result.orders[i] = 0; // like all others of which nothing is known
        }
    return result;
}

} // namespace libprofile::tools
