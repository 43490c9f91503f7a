// Iterations whose kind is known, and the clusters that a clusterer puts them into.
#pragma once

#include "libprofile/clustering/clusterer.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace libprofile {

/// Feeds iterations whose kind is known, and keeps a plain accumulator in addition to the clusterer.
class Recording {
  public:
    Recording(std::uint32_t clusters, EquivalenceChoice mode, bool refresh = false, std::uint32_t warm_up = 0)
        : clusterer(arena_, pool_, clusters, mode, refresh, warm_up) {
        tree_.start();
        for (std::uint32_t f = 0; f < 8; ++f) nodes_.push_back(tree_.child(0, NodeKind::Mpi, f % 3, f));
    }

    /// One iteration: `visits` calls at call path `path`, of `ns` in all, and `bytes`.
    void iteration(std::size_t path, std::uint64_t visits, std::uint64_t ns, std::uint64_t bytes, int kind) {
        Row& row = rows_.row(nodes_[path], tree_, arena_);
        row[Metric::Visits] = visits;
        row[Metric::Time] = ns;
        row[Metric::P2pBytesSent] = bytes;
        StructureSignatures signatures;
        signatures.strong.add(tree_[nodes_[path]], visits);
        signatures.weak.add(tree_[nodes_[path]], 1);
        IterationProfile profile;
        ASSERT_TRUE(profile.take(rows_, pool_));
        for (std::uint32_t i = 0; i < profile.size; ++i) plain[profile.cells[i].key] += profile.cells[i].value;
        kinds.push_back(kind);
        ASSERT_TRUE(clusterer.add(profile, condense(rows_, tree_, 0), signatures));
        rows_.clear(); // reused, since memory is returned only at the end of the process
    }

    std::map<std::uint32_t, std::uint64_t> cluster_sums() const {
        std::map<std::uint32_t, std::uint64_t> sums;
        for (std::uint32_t c = 0; c < clusterer.cluster_count(); ++c) {
            const IterationProfile& profile = clusterer.cluster(c).sums;
            for (std::uint32_t i = 0; i < profile.size; ++i) sums[profile.cells[i].key] += profile.cells[i].value;
        }
        return sums;
    }

    /// The share of the iterations whose cluster has a majority of their kind; of the first `first` only.
    double purity(std::size_t first = SIZE_MAX) {
        std::map<std::uint32_t, std::map<int, int>> members;
        first = std::min(first, kinds.size());
        for (std::uint32_t i = 0; i < first; ++i) ++members[clusterer.cluster_of(i)][kinds[i]];
        int pure = 0;
        for (const auto& [cluster, by_kind] : members) {
            int most = 0;
            for (const auto& [kind, count] : by_kind) most = std::max(most, count);
            pure += most;
        }
        return static_cast<double>(pure) / static_cast<double>(first);
    }

    /// Clusters that have an iteration of this kind.
    std::size_t clusters_of_kind(int kind) {
        std::map<std::uint32_t, int> found;
        for (std::uint32_t i = 0; i < kinds.size(); ++i)
            if (kinds[i] == kind) ++found[clusterer.cluster_of(i)];
        return found.size();
    }

    std::map<std::uint32_t, std::uint64_t> plain;
    std::vector<int> kinds;

  private:
    Arena arena_;
    Pool pool_{arena_};
    CallTree tree_{arena_};
    Accumulator rows_;
    std::vector<NodeId> nodes_;

  public:
    Clusterer clusterer;
};

} // namespace libprofile
