// The method of the paper, run by the very code of the runtime (libprofile/clustering/clusterer.hpp): K clusters, every
// iteration reconstructed as the mean of its cluster.
// Contract: as method.hpp. Takes memory from the runtime's allocator, which gives pages back at exit only; the cells of a
// method that is gone are used again by the next one of the same ReplayMemory.
// Source: Szebenyi, Wolf, Wylie (SC 2009), section 4.
#pragma once

#include "libprofile/base/memory.hpp"
#include "libprofile/clustering/clusterer.hpp"
#include "tools/evaluation/memory_count.hpp"
#include "tools/evaluation/method.hpp"
#include "tools/evaluation/recording.hpp"

#include <memory>
#include <vector>

namespace libprofile::tools {

/// The allocator of the runtime, without its quota.
struct ReplayMemory {
    ReplayMemory();
    libprofile::Arena arena;
    libprofile::Pool pool{arena};
};

class ReferenceMethod : public Method {
  public:
    /// @param clusters K
    /// @param adapts as the bounded method's clusters do, see Clusterer
    ReferenceMethod(std::shared_ptr<ReplayMemory> memory, const Recording& recording, std::uint32_t clusters, EquivalenceChoice mode, bool adapts = false);
    ~ReferenceMethod() override;

    std::string name() const override;
    void add(const RecordedIteration& iteration) override;
    void finish() override;
    std::vector<std::pair<std::uint32_t, double>> cells_of(std::size_t iteration) override;
    std::vector<double> whole_of(std::size_t iteration) override;
    MethodMemory memory() const override;
    std::string remark() const override;

    /// After finish(), by iteration.
    const std::vector<std::uint32_t>& membership() const { return membership_; }
    std::uint32_t cluster_count() const { return clusterer_.cluster_count(); }

  private:
    std::shared_ptr<ReplayMemory> memory_;
    const PathKinds* paths_;
    std::uint32_t clusters_;
    libprofile::Clusterer clusterer_;
    std::size_t whole_size_; // of condensed vectors
    std::vector<std::uint32_t> membership_;
};

/// @param memory shared by the instances that it makes
MethodFactory reference_factory(std::shared_ptr<ReplayMemory> memory, std::uint32_t clusters, EquivalenceChoice mode);

} // namespace libprofile::tools
