#include "tools/timeline/collective_operations.hpp"

#include "format/fnv.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <tuple>

namespace libprofile::tools {

namespace {

/// What the runtime calls a communicator of these ranks (wrappers/mpi/rank_groups.cpp).
std::uint32_t hash_of_ranks(const std::vector<std::uint32_t>& ranks) {
    return static_cast<std::uint32_t>(fnv1a(reinterpret_cast<const char*>(ranks.data()), ranks.size() * sizeof ranks[0])) | 2;
}

/// "0,2,4-6".
std::string ranges_of(const std::vector<std::uint32_t>& ranks) {
    std::string out;
    for (std::size_t first = 0, last = 0; first < ranks.size(); first = last + 1) {
        for (last = first; last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1; ++last) {
        }
        out += fmt::format("{}{}{}", out.empty() ? "" : ",", ranks[first], first == last ? "" : fmt::format("-{}", ranks[last]));
    }
    return out;
}

} // namespace

CollectiveOperations::CollectiveOperations(const Profile& profile, const ClockAxis& axis) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, CollectiveOperation> found;
    std::map<std::uint32_t, std::set<std::uint32_t>> ranks;
    for (std::uint32_t l = 0; l < profile.locations.size(); ++l) {
        const Location& location = profile.locations[l];
        for (const TracedCollective& one : location.events.collectives) {
            CollectiveOperation& operation = found[{one.communicator, one.number}];
            operation.communicator = one.communicator;
            operation.number = one.number;
            operation.calls.push_back({l, one.interval, axis.at(location.rank, location.events.intervals[one.interval].begin_ns)});
            ranks[one.communicator].insert(location.rank);
        }
    }
    for (const auto& [communicator, set] : ranks) {
        if (communicator == 0) {
            if (set.size() == profile.job.ranks && *set.rbegin() == set.size() - 1) members_[0].assign(set.begin(), set.end());
            continue;
        }
        // As most programs order them: up or down.
        for (const std::vector<std::uint32_t>& list :
             {std::vector<std::uint32_t>(set.begin(), set.end()), std::vector<std::uint32_t>(set.rbegin(), set.rend())})
            if (hash_of_ranks(list) == communicator) members_[communicator] = list;
    }
    std::set<std::uint32_t> contradictory;
    const auto function = [&](const CollectiveOperation::Call& call) {
        return profile.paths[profile.locations[call.location].events.intervals[call.interval].path].target;
    };
    for (auto& [key, operation] : found) {
        std::set<std::uint32_t> callers;
        bool is_common = true;
        for (const CollectiveOperation::Call& call : operation.calls) {
            const std::uint32_t rank = profile.locations[call.location].rank;
            is_common = is_common && axis.has(rank);
            if (!callers.insert(rank).second || function(call) != function(operation.calls.front())) contradictory.insert(operation.communicator);
        }
        const auto* all = members(operation.communicator);
        operation.is_whole = is_common && all != nullptr && callers.size() == all->size();
        std::stable_sort(operation.calls.begin(), operation.calls.end(),
                         [](const CollectiveOperation::Call& a, const CollectiveOperation::Call& b) { return a.begin_ns < b.begin_ns; });
    }
    for (auto& [key, operation] : found) {
        if (contradictory.contains(operation.communicator)) continue;
        for (const CollectiveOperation::Call& call : operation.calls) of_call_[{call.location, call.interval}] = operations_.size();
        operations_.push_back(std::move(operation));
    }
}

const CollectiveOperation* CollectiveOperations::of(std::size_t location, std::size_t interval) const {
    const auto at = of_call_.find({location, interval});
    return at == of_call_.end() ? nullptr : &operations_[at->second];
}

const std::vector<std::uint32_t>* CollectiveOperations::members(std::uint32_t communicator) const {
    const auto at = members_.find(communicator);
    return at == members_.end() ? nullptr : &at->second;
}

std::string CollectiveOperations::name(std::uint32_t communicator) const {
    if (communicator == 0) return "MPI_COMM_WORLD";
    const auto* known = members(communicator);
    return known == nullptr ? fmt::format("communicator {:x}", communicator) : "communicator of ranks " + ranges_of(*known);
}

} // namespace libprofile::tools
