#include "tools/timeline/timeline_states.hpp"

#include <utility>

namespace libprofile::tools {

TimelineState timeline_state_of(const Profile& profile, const CallPath& path) {
    if (is_region(path.kind)) return TimelineState::Region;
    switch (category_of(profile, path)) { // without default: a category that is missing does not compile
    case TimeCategory::MpiP2p: return TimelineState::PointToPoint;
    case TimeCategory::MpiColl: return TimelineState::Collective;
    case TimeCategory::MpiOneSided: return TimelineState::OneSided;
    case TimeCategory::MpiSyncOther:
    case TimeCategory::MpiSyncColl: return TimelineState::Synchronization;
    case TimeCategory::MpiFile:
    case TimeCategory::MpiFileColl: return TimelineState::FileIo;
    case TimeCategory::MpiInitExit: return TimelineState::InitExit;
    case TimeCategory::OmpOther:
    case TimeCategory::OmpBarrier:
    case TimeCategory::OmpIdle:
    case TimeCategory::OmpLock:
    case TimeCategory::OmpTask: return TimelineState::OpenMp;
    case TimeCategory::MpiOther:
    case TimeCategory::Compute: // an interval is a call, even if its path is not known
    case TimeCategory::Overhead:
    case TimeCategory::OffCpu:
    case TimeCategory::NotRecorded:
    case TimeCategory::Count: break;
    }
    return TimelineState::OtherMpi;
}

void add_calls(TimelineSums& sums, const MetricValues& values) {
    constexpr std::pair<TimelineState, CatalogueId> rows[] = {{TimelineState::PointToPoint, CatalogueId::MpiPointToPoint},
                                                              {TimelineState::Collective, CatalogueId::MpiCollective},
                                                              {TimelineState::OneSided, CatalogueId::MpiOneSided},
                                                              {TimelineState::Synchronization, CatalogueId::MpiSync},
                                                              {TimelineState::FileIo, CatalogueId::MpiFileIo},
                                                              {TimelineState::InitExit, CatalogueId::MpiInitExit},
                                                              {TimelineState::OpenMp, CatalogueId::OpenMp}};
    const auto value = [&](CatalogueId id) { return values[static_cast<std::size_t>(id)]; };
    std::uint64_t known = 0;
    for (const auto& [state, id] : rows) {
        sums[static_cast<std::size_t>(state)] += value(id);
        if (state != TimelineState::OpenMp) known += value(id);
    }
    const std::uint64_t all = value(CatalogueId::Mpi);
    sums[static_cast<std::size_t>(TimelineState::OtherMpi)] += all > known ? all - known : 0;
}

} // namespace libprofile::tools
