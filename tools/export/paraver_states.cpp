#include "tools/export/paraver_states.hpp"

namespace libprofile::tools {

namespace {

constexpr ParaverStateRow states[] = {
    {ParaverState::Idle, "Idle", "117,195,255"},
    {ParaverState::Running, "Running", "0,0,255"},
    {ParaverState::Receive, "Waiting a message", "255,0,0"},
    {ParaverState::Send, "Blocking Send", "255,0,174"},
    {ParaverState::Synchronisation, "Synchronization", "179,0,0"},
    {ParaverState::Probe, "Test/Probe", "0,255,0"},
    {ParaverState::ForkJoin, "Scheduling and Fork/Join", "255,255,0"},
    {ParaverState::Wait, "Wait/WaitAll", "235,0,0"},
    {ParaverState::ImmediateSend, "Immediate Send", "255,0,255"},
    {ParaverState::ImmediateReceive, "Immediate Receive", "100,100,177"},
    {ParaverState::File, "I/O", "172,174,41"},
    {ParaverState::Group, "Group Communication", "255,144,26"},
    {ParaverState::NotTraced, "Tracing Disabled", "2,255,177"},
    {ParaverState::Other, "Others", "192,224,0"},
    {ParaverState::SendReceive, "Send Receive", "66,66,66"},
    {ParaverState::OneSided, "Memory transfer", "189,168,100"},
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

ParaverState point_to_point(std::string_view function) {
    if (has(function, "endrecv")) return ParaverState::SendReceive;
    if (has(function, "_Wait")) return ParaverState::Wait;
    if (has(function, "_Test") || has(function, "robe")) return ParaverState::Probe;
    const bool is_immediate = has(function, "MPI_I") || has(function, "_init") || has(function, "_Start");
    if (has(function, "recv") || has(function, "Recv")) return is_immediate ? ParaverState::ImmediateReceive : ParaverState::Receive;
    if (has(function, "send") || has(function, "Send")) return is_immediate ? ParaverState::ImmediateSend : ParaverState::Send;
    return ParaverState::Other;
}

} // namespace

std::span<const ParaverStateRow> paraver_states() { return states; }

std::optional<ParaverState> paraver_state(TimeCategory category, std::string_view function) {
    switch (category) {
    case TimeCategory::MpiP2p: return point_to_point(function);
    case TimeCategory::MpiColl:
    case TimeCategory::MpiSyncColl: return ParaverState::Group;
    case TimeCategory::MpiOneSided:
    case TimeCategory::MpiSyncOther: return ParaverState::OneSided;
    case TimeCategory::MpiFile:
    case TimeCategory::MpiFileColl: return ParaverState::File;
    case TimeCategory::MpiOther:
    case TimeCategory::MpiInitExit:
    case TimeCategory::Overhead:
    case TimeCategory::OffCpu: return ParaverState::Other;
    case TimeCategory::NotRecorded: return ParaverState::NotTraced;
    case TimeCategory::OmpBarrier:
    case TimeCategory::OmpLock:
    case TimeCategory::OmpTask: return ParaverState::Synchronisation;
    case TimeCategory::OmpIdle: return ParaverState::Idle;
    case TimeCategory::OmpOther: // a region lasts until its end, with what the thread computes in it
    case TimeCategory::Compute:
    case TimeCategory::Count: break;
    }
    return std::nullopt;
}

} // namespace libprofile::tools
