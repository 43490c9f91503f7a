// Takes the iterations that the journal of a live file holds one by one into the data of their phase: clustered by the code of
// the runtime, so that thousands of ranks fit into memory, and with every iteration's own values, exactly.
// Contract: used by one thread; throws std::bad_alloc only. Cells must be sorted by key, without duplicates. Memory beyond a few
// bytes per iteration is taken from libprofile::memory_quota, whose limit the caller sets; what does not fit is not clustered.
#pragma once

#include "libprofile/clustering/clusterer.hpp"
#include "libprofile/clustering/time_series.hpp"
#include "tools/reader/model.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// How the job clustered.
struct KeptSettings {
    std::uint32_t clusters = 16; // Clusterer::no_limit: every iteration in full
    EquivalenceChoice mode = EquivalenceChoice::Auto;
    std::uint32_t counter_metrics = 0; // of the file
    std::uint32_t counters = 0;        // that were chosen
};

/// One setting ("LIBPROFILE_FILTER") from a job's configuration; "": not there.
std::string setting_of(const std::string& configuration, const std::string& name);

/// The settings from a job's configuration; missing ones have their defaults.
KeptSettings kept_settings(const std::string& configuration);

/// What an iteration has in its cells.
struct KeptProfile {
    std::vector<libprofile::Cell> cells;  // all
    std::vector<libprofile::Cell> events; // those of MPI calls
    CondensedVector condensed;
    StructureSignatures signatures;
};

class KeptIterations {
  public:
    /// @param most how many iterations there can be at most
    KeptIterations(KeptSettings settings, std::uint64_t most);
    ~KeptIterations();
    KeptIterations(const KeptIterations&) = delete;
    KeptIterations& operator=(const KeptIterations&) = delete;

    /// An iteration with values of its own. It can be taken back until the next one.
    /// @param is_mixed there are values of earlier iterations, too: they are no values for the series
    void add(KeptProfile profile, std::uint64_t wall_ns, bool is_mixed);
    /// An iteration whose values are in the rest of its phase.
    void add_to_rest(std::uint64_t wall_ns);
    /// The newest iteration is in no cluster; its values in the series stay.
    /// @return its cells; nothing: it cannot be taken back
    std::optional<std::vector<libprofile::Cell>> take_back();

    std::uint64_t iterations() const { return wall_ns_.size(); }
    /// Iterations that did not fit into the memory quota, or had too many classes; append_to() appends their cells to the rest.
    std::uint64_t without_room() const { return without_room_; }
    /// There will be no more. Appends all to `data`, whose cells have the same numbers; `is_event` tells nodes of MPI functions.
    void append_to(PhaseData& data, const std::vector<bool>& is_event);
    SeriesData series() const;

  private:
    void cluster_newest();
    bool give_to_clusterer(const KeptProfile& profile);

    static constexpr std::uint32_t no_cluster = 0xffffffff;
    std::vector<std::pair<void*, std::size_t>> pages_; // of the arena, which does not give them back by itself
    const std::uint32_t limit_;                        // of clusters, but for one of each class
    libprofile::Arena arena_;
    libprofile::Pool pool_{arena_};
    Clusterer clusterer_;
    TimeSeries series_;
    std::uint64_t series_work_ = 0; // columns coded
    std::uint64_t class_work_ = 0;  // distances to more clusters than there should be
    std::vector<std::uint64_t> wall_ns_;
    std::vector<std::uint32_t> in_clusterer_; // by iteration: its number there, or no_cluster
    std::optional<KeptProfile> newest_;       // not in the clusterer yet
    std::uint64_t unclustered_ = 0;
    std::uint64_t without_room_ = 0;
    bool is_full_ = false;
    std::map<std::uint32_t, std::uint64_t> rest_; // of those without room: sums by key
};

} // namespace libprofile::tools
