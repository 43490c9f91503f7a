#include "tools/timeline/timeline_states.hpp"

namespace libprofile::tools {

namespace {

/// The master's event, which has all that the master does in the region.
bool is_parallel_region(const Profile& profile, const CallPath& path) {
    return path.kind == NodeKind::OpenMp && profile.functions[path.target].name == "omp parallel";
}

} // namespace

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
    case TimeCategory::OmpOther: return is_parallel_region(profile, path) ? TimelineState::Region : TimelineState::OpenMp;
    case TimeCategory::OmpBarrier: return TimelineState::OmpBarrier;
    case TimeCategory::OmpIdle: return TimelineState::OmpIdle;
    case TimeCategory::OmpLock: return TimelineState::OmpLock;
    case TimeCategory::OmpTask: return TimelineState::OmpTaskWait;
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
    using enum TimelineState;
    struct Row {
        TimelineState state;
        CatalogueId id;
        TimelineState rest; // of what the row is a part
    };
    constexpr Row rows[] = {{PointToPoint, CatalogueId::MpiPointToPoint, OtherMpi},
                            {Collective, CatalogueId::MpiCollective, OtherMpi},
                            {OneSided, CatalogueId::MpiOneSided, OtherMpi},
                            {Synchronization, CatalogueId::MpiSync, OtherMpi},
                            {FileIo, CatalogueId::MpiFileIo, OtherMpi},
                            {InitExit, CatalogueId::MpiInitExit, OtherMpi},
                            {OmpBarrier, CatalogueId::OmpBarrier, OpenMp},
                            {OmpIdle, CatalogueId::OmpIdle, OpenMp},
                            {OmpLock, CatalogueId::OmpLock, OpenMp},
                            {OmpTaskWait, CatalogueId::OmpTask, OpenMp}};
    const auto value = [&](CatalogueId id) { return values[static_cast<std::size_t>(id)]; };
    std::uint64_t of_mpi = 0, of_openmp = 0;
    for (const Row& row : rows) {
        sums[static_cast<std::size_t>(row.state)] += value(row.id);
        (row.rest == OtherMpi ? of_mpi : of_openmp) += value(row.id);
    }
    const auto add_rest = [&](TimelineState state, std::uint64_t all, std::uint64_t known) {
        sums[static_cast<std::size_t>(state)] += all > known ? all - known : 0;
    };
    add_rest(OtherMpi, value(CatalogueId::Mpi), of_mpi);
    add_rest(OpenMp, value(CatalogueId::OpenMp), of_openmp);
}

} // namespace libprofile::tools
