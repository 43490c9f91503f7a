// A job in memory of which each rank's calls are chosen: what analyses of structure are tested with.
// Contract: one thread.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace libprofile::test {

class CalledJob {
  public:
    CalledJob() {
        profile.modules = {{"BUILD", "/app"}};
        profile.metrics.resize(metric_count);
        profile.paths = {{}};
        profile.phases = {{"", PhaseKind::Outside}, {"step", PhaseKind::Iterations}};
        main = frame(0, "main");
    }

    std::uint32_t frame(std::uint32_t parent, const std::string& name) {
        profile.sites.push_back({0, 0x1000 + 16 * profile.sites.size(), {name, name + ".c", 1}, {}});
        profile.paths.push_back({parent, NodeKind::Frame, static_cast<std::uint32_t>(profile.sites.size() - 1), 0});
        return static_cast<std::uint32_t>(profile.paths.size() - 1);
    }
    std::uint32_t call(std::uint32_t parent, const std::string& function) {
        std::uint32_t f = 0;
        while (f < profile.functions.size() && profile.functions[f].name != function) ++f;
        if (f == profile.functions.size()) profile.functions.push_back({function, TimeCategory::MpiP2p});
        profile.paths.push_back({parent, NodeKind::Mpi, f, 0});
        return static_cast<std::uint32_t>(profile.paths.size() - 1);
    }

    using Calls = std::vector<std::pair<std::uint32_t, std::uint64_t>>; // call path, visits

    /// A rank without iterations.
    void rank(const Calls& calls) { rank(calls, {}, {}); }
    /// @param kinds what iterations of a kind call; one cluster each
    /// @param kind_of by iteration
    void rank(const Calls& calls, const std::vector<Calls>& kinds, const std::vector<std::uint32_t>& kind_of) {
        tools::Location& added = profile.locations.emplace_back();
        added.rank = static_cast<std::uint32_t>(profile.locations.size() - 1);
        profile.ranks[added.rank].host = "node" + std::to_string(added.rank / 4);
        added.phases.resize(kind_of.empty() ? 1 : 2);
        added.phases[0].phase = 0;
        added.phases[0].instances = 1;
        for (const auto& [path, visits] : calls) added.phases[0].rest.push_back({path, static_cast<std::uint32_t>(Metric::Visits), visits});
        if (kind_of.empty()) return;
        tools::PhaseData& steps = added.phases[1];
        steps.phase = 1;
        steps.instances = kind_of.size();
        steps.equivalence = Equivalence::Strong;
        steps.classes = kinds.size();
        steps.cluster_of_iteration = kind_of;
        steps.iteration_ns.assign(kind_of.size(), 1'000'000);
        steps.clusters.resize(kinds.size());
        for (const std::uint32_t kind : kind_of) ++steps.clusters[kind].size;
        for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
            steps.clusters[kind].equivalence_class = kind;
            for (const auto& [path, visits] : kinds[kind]) {
                steps.clusters[kind].cells.push_back({path, static_cast<std::uint32_t>(Metric::Visits), visits * steps.clusters[kind].size});
                steps.clusters[kind].cells.push_back({path, 0, visits * steps.clusters[kind].size * call_ns});
            }
        }
    }

    std::vector<const tools::Location*> locations() const {
        std::vector<const tools::Location*> list;
        for (const tools::Location& location : profile.locations) list.push_back(&location);
        return list;
    }

    static constexpr std::uint64_t call_ns = 1000;
    tools::Profile profile;
    std::uint32_t main = 0;
};

} // namespace libprofile::test
