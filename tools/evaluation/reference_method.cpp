#include "tools/evaluation/reference_method.hpp"

#include "tools/evaluation/recording.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <new>

namespace libprofile::tools {

ReplayMemory::ReplayMemory() { libprofile::memory_quota.limit(std::numeric_limits<std::uint64_t>::max()); }

ReferenceMethod::ReferenceMethod(std::shared_ptr<ReplayMemory> memory, const Recording& recording, std::uint32_t clusters, EquivalenceChoice mode, bool adapts)
    : memory_(std::move(memory)), paths_(&recording.paths), clusters_(clusters),
      clusterer_(memory_->arena, memory_->pool, clusters, mode, adapts, 0, 2 * recording.counters), whole_size_(catalogue_size + 2 * recording.counters) {}

ReferenceMethod::~ReferenceMethod() {
    for (std::uint32_t c = 0; c < clusterer_.cluster_count(); ++c) {
        libprofile::IterationProfile cells = clusterer_.cluster(c).sums;
        cells.release(memory_->pool);
    }
}

std::string ReferenceMethod::name() const { return fmt::format("reference K={}", clusters_); }

void ReferenceMethod::add(const RecordedIteration& iteration) {
    // The copy stands for IterationProfile::take(), which in the job copies the cells of the iteration that ended.
    libprofile::IterationProfile profile;
    profile.size = static_cast<std::uint32_t>(iteration.cells.size());
    profile.cells = static_cast<libprofile::Cell*>(memory_->pool.allocate(profile.bytes()));
    if (profile.cells == nullptr) throw std::bad_alloc();
    std::copy(iteration.cells.begin(), iteration.cells.end(), profile.cells);
    if (!clusterer_.add(profile, iteration.condensed, iteration.signatures)) throw std::bad_alloc();
}

void ReferenceMethod::finish() {
    membership_.resize(clusterer_.iterations());
    for (std::uint32_t i = 0; i < membership_.size(); ++i) membership_[i] = clusterer_.cluster_of(i);
}

std::vector<std::pair<std::uint32_t, double>> ReferenceMethod::cells_of(std::size_t iteration) {
    const libprofile::Cluster& cluster = clusterer_.cluster(membership_.at(iteration));
    std::vector<std::pair<std::uint32_t, double>> cells;
    cells.reserve(cluster.sums.size);
    for (std::uint32_t i = 0; i < cluster.sums.size; ++i)
        cells.emplace_back(cluster.sums.cells[i].key, static_cast<double>(cluster.sums.cells[i].value) / cluster.members);
    return cells;
}

std::vector<double> ReferenceMethod::whole_of(std::size_t iteration) {
    const libprofile::Cluster& cluster = clusterer_.cluster(membership_.at(iteration));
    std::vector<double> values;
    for (std::size_t i = 0; i < whole_size_; ++i) values.push_back(static_cast<double>(cluster.condensed[i]) / cluster.members);
    return values;
}

MethodMemory ReferenceMethod::memory() const {
    MemoryCount count(*paths_);
    for (std::uint32_t c = 0; c < clusterer_.cluster_count(); ++c) {
        const libprofile::Cluster& cluster = clusterer_.cluster(c);
        count.add_profile({cluster.sums.cells, cluster.sums.size}, cluster.members, cluster.equivalence_class);
    }
    count.add_membership(membership_, clusterer_.membership_memory());
    if (membership_.size() > clusters_) // before, nothing is measured
        count.add_distances(std::max<std::uint64_t>(clusters_, clusterer_.cluster_count()));
    return count.result();
}

std::string ReferenceMethod::remark() const {
    constexpr const char* names[] = {"no", "weak", "strong"};
    return fmt::format("{} equivalence", names[static_cast<std::size_t>(clusterer_.equivalence())]);
}

MethodFactory reference_factory(std::shared_ptr<ReplayMemory> memory, std::uint32_t clusters, EquivalenceChoice mode) {
    return [memory = std::move(memory), clusters, mode](const Recording& recording, std::size_t) {
        return std::make_unique<ReferenceMethod>(memory, recording, clusters, mode);
    };
}

} // namespace libprofile::tools
