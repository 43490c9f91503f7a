// libprofile's own method, run by the very code of the runtime (libprofile/clustering/time_series.hpp): every iteration's
// own values, coded, whole iterations and counts exactly and times within a bound; what is sampled, from clusters.
// Contract: as method.hpp.
#pragma once

#include "libprofile/clustering/time_series.hpp"
#include "tools/evaluation/reference_method.hpp"
#include "tools/reader/series_in_memory.hpp"

#include <memory>
#include <vector>

namespace libprofile::tools {

class BoundedMethod : public Method {
  public:
    /// @param clusters K, of the clusters that the sampled cells come from
    BoundedMethod(std::shared_ptr<ReplayMemory> memory, const Recording& recording, std::uint32_t clusters, EquivalenceChoice mode, SeriesSettings settings);

    std::string name() const override;
    void add(const RecordedIteration& iteration) override;
    void finish() override;
    std::vector<std::pair<std::uint32_t, double>> cells_of(std::size_t iteration) override;
    std::vector<double> whole_of(std::size_t iteration) override;
    MethodMemory memory() const override;
    std::string remark() const override;

  private:
    struct Known {
        bool has_totals = false;
        bool has_cells = false;
        std::vector<double> whole;
        std::vector<std::pair<std::uint32_t, double>> events; // by key
    };
    std::shared_ptr<ReplayMemory> memory_;
    const PathKinds* paths_;
    SeriesSettings settings_;
    ReferenceMethod clusters_;
    std::uint32_t cluster_limit_;
    TimeSeries series_;
    SeriesData data_;
    std::vector<libprofile::Cell> events_; // of one iteration
    std::vector<Known> known_;
};

MethodFactory bounded_factory(std::shared_ptr<ReplayMemory> memory, std::uint32_t clusters, EquivalenceChoice mode, SeriesSettings settings);

} // namespace libprofile::tools
