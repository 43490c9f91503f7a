#include "tools/timeseries/function_class.hpp"

#include <algorithm>
#include <initializer_list>

namespace libprofile::tools {

namespace {

using Names = std::initializer_list<std::string_view>;

bool is_among(std::string_view name, Names names) { return std::find(names.begin(), names.end(), name) != names.end(); }

/// "Isend", but not "Init": `name` is one of data transfer.
bool is_nonblocking(std::string_view name) { return name.size() > 1 && name[0] == 'I' && name[1] >= 'a' && name[1] <= 'z'; }

FunctionClass collective(std::string_view name) {
    if (is_nonblocking(name) || name.ends_with("_init")) return FunctionClass::Computation;
    if (is_among(name, {"Bcast", "Scatter", "Scatterv"})) return FunctionClass::FromRoot;
    if (is_among(name, {"Gather", "Gatherv", "Reduce"})) return FunctionClass::ToRoot;
    if (is_among(name, {"Scan", "Exscan"}) || name.starts_with("Neighbor_")) return FunctionClass::Wait;
    return FunctionClass::Synchronisation;
}

FunctionClass point_to_point(std::string_view name) {
    const bool moves = is_among(name, {"Send", "Ssend", "Rsend", "Recv", "Mrecv", "Sendrecv", "Sendrecv_replace"});
    const bool asks = is_among(name, {"Probe", "Mprobe", "Iprobe", "Improbe", "Parrived"});
    const bool empties = is_among(name, {"Buffer_detach", "Comm_detach_buffer", "Session_detach_buffer", //
                                         "Buffer_flush", "Comm_flush_buffer", "Session_flush_buffer"});
    const bool completes = name.starts_with("Wait") || name.starts_with("Test") || name.starts_with("Request_get_status");
    return moves || asks || empties || completes ? FunctionClass::Wait : FunctionClass::Computation;
}

/// Of those that transfer no data.
bool is_collective(std::string_view name) {
    return is_among(name, {"Comm_create",       "Comm_create_from_group",
                           "Comm_create_group", "Comm_disconnect",
                           "Comm_dup",          "Comm_dup_with_info",
                           "Comm_split",        "Comm_split_type",
                           "Comm_spawn",        "Comm_spawn_multiple",
                           "Intercomm_create",  "Intercomm_create_from_groups",
                           "Intercomm_merge",   "Cart_create",
                           "Cart_sub",          "Graph_create",
                           "Dist_graph_create", "Dist_graph_create_adjacent",
                           "Win_allocate",      "Win_allocate_shared",
                           "Win_create",        "Win_create_dynamic",
                           "Win_free"});
}

} // namespace

FunctionClass function_class(std::string_view name, TimeCategory category) noexcept {
    if (name.starts_with("MPI_")) name.remove_prefix(4);
    if (name.ends_with("_c")) name.remove_suffix(2); // large counts
    const auto if_so = [](bool is, FunctionClass then) { return is ? then : FunctionClass::Computation; };
    switch (category) { // without default: a category that is missing does not compile
    case TimeCategory::MpiSyncColl:
    case TimeCategory::MpiColl: return collective(name);
    case TimeCategory::MpiP2p: return point_to_point(name);
    case TimeCategory::MpiSyncOther:
        if (name == "Win_fence") return FunctionClass::Synchronisation;
        return if_so(!is_among(name, {"Win_post", "Win_sync"}), FunctionClass::Wait);
    case TimeCategory::MpiFileColl: return if_so(!name.ends_with("_begin") && !name.starts_with("File_i"), FunctionClass::Synchronisation);
    case TimeCategory::MpiInitExit: return if_so(name != "Session_init", FunctionClass::Synchronisation);
    case TimeCategory::MpiOther:
        if (is_among(name, {"Comm_accept", "Comm_connect", "Comm_join"})) return FunctionClass::Wait;
        return if_so(is_collective(name), FunctionClass::Synchronisation);
    case TimeCategory::OmpBarrier: return FunctionClass::Synchronisation;
    case TimeCategory::OmpIdle:
    case TimeCategory::OmpLock:
    case TimeCategory::OmpTask: return FunctionClass::Wait;
    case TimeCategory::MpiOneSided:
    case TimeCategory::MpiFile:
    case TimeCategory::Compute:
    case TimeCategory::Overhead:
    case TimeCategory::OffCpu:
    case TimeCategory::NotRecorded:
    case TimeCategory::OmpOther:
    case TimeCategory::Count: break;
    }
    return FunctionClass::Computation;
}

} // namespace libprofile::tools
