// Takes the iterations that the journal of a live file holds one by one into the data of their phase: clustered by the code of
// the runtime, so that thousands of ranks fit into memory, and with every iteration's own values, exactly.
// Contract: used by one thread; throws std::bad_alloc only. Cells must be sorted by key, without duplicates.
#pragma once

#include "libprofile/clustering/clusterer.hpp"
#include "libprofile/clustering/time_series.hpp"
#include "tools/profile/model.hpp"

#include <span>
#include <utility>
#include <vector>

namespace libprofile::tools {

/// How the job clustered.
struct KeptSettings {
    std::uint32_t clusters = 16; // Clusterer::no_limit: every iteration in full
    EquivalenceMode mode = EquivalenceMode::Auto;
};

/// The settings from a job's configuration; what is not there is as by default.
KeptSettings kept_settings(const std::string& configuration);

class KeptIterations {
  public:
    explicit KeptIterations(KeptSettings settings);
    ~KeptIterations();
    KeptIterations(const KeptIterations&) = delete;
    KeptIterations& operator=(const KeptIterations&) = delete;

    /// @param cells all of the iteration; @param events those of MPI calls
    void add(std::span<const libprofile::Cell> cells, std::span<const libprofile::Cell> events, const CondensedVector& condensed,
             std::uint64_t wall_ns, const StructureSignatures& signatures);
    /// An iteration whose values are in the rest of its phase.
    void add_to_rest(std::uint64_t wall_ns);

    std::uint64_t iterations() const { return wall_ns_.size(); }
    /// Appends all to `data`, whose cells have the same numbers; `is_event` tells nodes of MPI functions.
    void append_to(PhaseData& data, const std::vector<bool>& is_event);
    SeriesData series() const;

  private:
    std::vector<std::pair<void*, std::size_t>> pages_; // of the arena, which does not give them back by itself
    libprofile::Arena arena_;
    libprofile::Pool pool_{arena_};
    Clusterer clusterer_;
    TimeSeries series_;
    std::vector<std::uint64_t> wall_ns_;
};

} // namespace libprofile::tools
