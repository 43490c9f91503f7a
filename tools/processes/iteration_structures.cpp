#include "tools/processes/iteration_structures.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/totals.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_counts = 8'000'000; // EventCounts that are kept: 128 MB

/// Numbers of structures, shared by the threads that read rows.
class StructureNumbers {
  public:
    explicit StructureNumbers(IterationStructures& to) : to_(to) {}

    std::uint32_t number_of(std::uint64_t hash, const EventVisits& visits) {
        const std::lock_guard lock(numbering_);
        const auto [at, is_new] = numbers_.try_emplace(hash, static_cast<std::uint32_t>(to_.list.size()));
        if (!is_new) return at->second;
        IterationStructures::Structure& added = to_.list.emplace_back();
        added.hash = hash;
        added.is_kept = kept_ + visits.size() <= most_counts;
        if (added.is_kept) {
            kept_ += visits.size();
            added.visits = visits;
        }
        return at->second;
    }

  private:
    IterationStructures& to_;
    std::mutex numbering_;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
    std::size_t kept_ = 0;
};

/// What the iterations of one phase of a location call, one after the other, with the iterations inside them.
class VisitsReader {
  public:
    VisitsReader(const EventPaths& events, const Location& location, const PhaseData& data) : events_(events), location_(location), data_(data) {
        const auto is_empty = [](const Cluster& cluster) { return cluster.size == 0; }; // of a damaged file
        by_cluster_ = data.equivalence == Equivalence::Strong && std::none_of(data.clusters.begin(), data.clusters.end(), is_empty);
        if (by_cluster_)
            for (const Cluster& cluster : data.clusters) {
                visits_.push_back(events.visits_of(cluster.cells));
                for (EventCount& count : visits_.back()) count.visits /= cluster.size;
            }
        const bool needs_series = !by_cluster_ || data.unclustered != 0;
        if (needs_series && data.series) {
            reader_.emplace(*data.series);
            for (const SeriesData::NumberedColumn& numbered : data.series->numbered_columns()) {
                const bool counts = numbered.column.metric == static_cast<std::uint32_t>(Metric::Visits) && events.is_event(numbered.column.path);
                event_of_column_.push_back(counts && !numbered.is_time ? numbered.column.path : no_event);
            }
        }
        if (data.inside) inside_ = data.inside->entries;
    }

    /// Goes to the next iteration, if there is one.
    void next() {
        const std::size_t i = iteration_++;
        is_read_ = reader_ && reader_->next();
        cluster_ = data_.cluster_of_iteration[i];
        const std::size_t begin = inside_at_;
        while (inside_at_ < inside_.size() && inside_[inside_at_].iteration == i) ++inside_at_;
        within_ = inside_.subspan(begin, inside_at_ - begin);
    }
    std::size_t iteration() const { return iteration_; } // that next() goes to
    /// The iteration calls what its cluster does, and nothing lies inside.
    bool is_of_cluster() const { return by_cluster_ && cluster_ < data_.clusters.size() && within_.empty(); }
    std::uint32_t cluster() const { return cluster_; }
    const EventVisits& of_cluster(std::uint32_t cluster) const { return visits_[cluster]; }
    std::size_t clusters() const { return visits_.size(); }

    /// Adds what the iteration calls. Returns false if that is not known.
    bool add_to(EventVisits& visits) {
        if (by_cluster_ && cluster_ < data_.clusters.size())
            visits.insert(visits.end(), visits_[cluster_].begin(), visits_[cluster_].end());
        else if (is_read_ && reader_->has_cells())
            reader_->for_each_cell([&](std::size_t column, std::uint64_t count) {
                if (event_of_column_[column] != no_event) visits.push_back({event_of_column_[column], count});
            });
        else
            return false;
        for (const InsideData::Entry& entry : within_) {
            if (entry.count != 0) visits.push_back({events_.event_of_phase(entry.phase), entry.count});
            if (!add_inside(entry, visits)) return false;
        }
        return true;
    }

  private:
    static constexpr std::uint32_t no_event = 0xffffffff;

    /// Of phases without iterations the profile says how often they were entered, and no more.
    bool add_inside(const InsideData::Entry& entry, EventVisits& visits) {
        const PhaseData* data = find_phase(&location_, entry.phase);
        if (data == nullptr || data->cluster_of_iteration.empty() || entry.phase == data_.phase) return true;
        auto& reader = readers_[entry.phase];
        if (!reader) reader = std::make_unique<VisitsReader>(events_, location_, *data);
        if (entry.first < reader->iteration()) return false;
        for (std::uint64_t i = 0; i < entry.count; ++i) {
            do {
                if (reader->iteration() >= data->cluster_of_iteration.size()) return false;
                reader->next();
            } while (reader->iteration() <= entry.first);
            if (!reader->add_to(visits)) return false;
        }
        return true;
    }

    const EventPaths& events_;
    const Location& location_;
    const PhaseData& data_;
    bool by_cluster_ = false;
    std::vector<EventVisits> visits_; // by cluster
    std::optional<SeriesReader> reader_;
    std::vector<std::uint32_t> event_of_column_;
    std::span<const InsideData::Entry> inside_, within_;
    std::size_t inside_at_ = 0, iteration_ = 0;
    std::uint32_t cluster_ = 0;
    bool is_read_ = false;
    std::map<std::uint32_t, std::unique_ptr<VisitsReader>> readers_; // of phases inside
};

/// Numbers the iterations of one row.
class StructureReader {
  public:
    StructureReader(const EventPaths& events, const Location& location, const PhaseData& data, StructureNumbers& numbers)
        : reader_(events, location, data), numbers_(numbers) {
        for (std::uint32_t cluster = 0; cluster < reader_.clusters(); ++cluster) hashes_.push_back(hash_of_visits(reader_.of_cluster(cluster)));
    }

    std::uint32_t next() {
        reader_.next();
        if (reader_.is_of_cluster()) return known_number(hashes_[reader_.cluster()], reader_.of_cluster(reader_.cluster()));
        EventVisits visits;
        if (!reader_.add_to(visits)) return unknown_structure;
        normalise(visits);
        return known_number(hash_of_visits(visits), visits);
    }

  private:
    std::uint32_t known_number(std::uint64_t hash, const EventVisits& visits) {
        if (hash == last_hash_ && last_) return *last_;
        const auto [at, is_new] = known_.try_emplace(hash, 0);
        if (is_new) at->second = numbers_.number_of(hash, visits);
        last_hash_ = hash;
        return *(last_ = at->second);
    }

    VisitsReader reader_;
    StructureNumbers& numbers_;
    std::vector<std::uint64_t> hashes_; // by cluster
    std::unordered_map<std::uint64_t, std::uint32_t> known_;
    std::uint64_t last_hash_ = 0;
    std::optional<std::uint32_t> last_;
};

} // namespace

IterationStructures iteration_structures(const EventPaths& events, const std::vector<const Location*>& locations, std::uint32_t phase) {
    IterationStructures result;
    result.of_iteration.resize(locations.size());
    StructureNumbers numbers(result);
    in_parallel(locations.size(), [&](std::size_t row) {
        const PhaseData& data = *find_phase(locations[row], phase);
        StructureReader reader(events, *locations[row], data, numbers);
        std::vector<std::uint32_t>& of_row = result.of_iteration[row];
        of_row.reserve(data.cluster_of_iteration.size());
        for (std::size_t i = 0; i < data.cluster_of_iteration.size(); ++i) of_row.push_back(reader.next());
    });
    return result;
}

double dissimilarity(const IterationStructures& structures, std::uint32_t a, std::uint32_t b) {
    if (a == unknown_structure || b == unknown_structure) return std::numeric_limits<double>::quiet_NaN();
    if (a == b) return 0;
    const IterationStructures::Structure &x = structures.list[a], &y = structures.list[b];
    if (!x.is_kept || !y.is_kept) return std::numeric_limits<double>::quiet_NaN();
    return share_alone(x.visits, y.visits);
}

} // namespace libprofile::tools
