#include "tools/comparison/time_use.hpp"

#include "libprofile/base/function_records.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/waiting.hpp"
#include "tools/timeseries/function_class.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace libprofile::tools {

namespace {

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

TimeUse use_of_call(std::string_view name, TimeCategory category) {
    switch (category) { // without default: a category that is missing does not compile
    case TimeCategory::MpiFile:
    case TimeCategory::MpiFileColl: return TimeUse::InputOutput;
    case TimeCategory::OmpOther: return TimeUse::OpenMp;
    case TimeCategory::MpiInitExit:
        if (name.find("nit") != std::string_view::npos) return TimeUse::Mpi; // that of starting, not of waiting
        break;
    case TimeCategory::MpiOther:
    case TimeCategory::MpiSyncOther:
    case TimeCategory::MpiSyncColl:
    case TimeCategory::MpiP2p:
    case TimeCategory::MpiColl:
    case TimeCategory::MpiOneSided:
    case TimeCategory::OmpBarrier:
    case TimeCategory::OmpIdle:
    case TimeCategory::OmpLock:
    case TimeCategory::OmpTask:
    case TimeCategory::Compute:
    case TimeCategory::Overhead:
    case TimeCategory::OffCpu:
    case TimeCategory::NotRecorded:
    case TimeCategory::Count: break;
    }
    return class_in_job(function_class(name, category)) == NodeClass::Computation ? TimeUse::Mpi : TimeUse::Waiting;
}

/// Of a function of MPI or OpenMP, as C, Fortran or the profiling interface calls it.
std::optional<TimeUse> use_of_library_call(const std::string& name) {
    static const std::unordered_map<std::string, TimeUse> uses = [] {
        std::unordered_map<std::string, TimeUse> all;
        for (const MpiFunction& function : std::span(mpi_functions, mpi_function_count))
            all[lower(function.name)] = use_of_call(function.name, function.category);
#define OMP(id, name, category, in_signature) all[name] = use_of_call(name, TimeCategory::category);
#include "format/openmp.def"
#undef OMP
        return all;
    }();
    std::string key = lower(name);
    if (key.starts_with("pmpi_")) key.erase(0, 1);
    while (key.ends_with('_')) key.pop_back();
    if (const auto known = uses.find(key); known != uses.end()) return known->second;
    if (key.starts_with("mpi_")) return TimeUse::Mpi;
    return {};
}

TimeUse use_of_wait(std::string_view what) {
    return what == "I/O" ? TimeUse::InputOutput : TimeUse::Waiting; // "lock", "sleep", "wait"
}

/// libprofile's own nodes (label_of()).
std::optional<TimeUse> use_of_bracketed(std::string_view name) {
    constexpr std::string_view off_cpu = "(off CPU";
    if (name == "(libprofile)") return TimeUse::Measuring;
    if (name == "(not recorded)") return TimeUse::NotRecorded;
    if (!name.starts_with(off_cpu)) return {};
    if (name.size() <= off_cpu.size() + 3) return TimeUse::OffCpu; // no ": why"
    return use_of_wait(name.substr(off_cpu.size() + 2, name.size() - off_cpu.size() - 3));
}

} // namespace

const char* time_use_name(TimeUse kind) {
    switch (kind) {
    case TimeUse::Computing: return "computing";
    case TimeUse::Waiting: return "waiting";
    case TimeUse::Mpi: return "MPI";
    case TimeUse::OpenMp: return "OpenMP";
    case TimeUse::InputOutput: return "I/O";
    case TimeUse::OffCpu: return "off CPU";
    case TimeUse::Measuring: return "libprofile";
    case TimeUse::NotRecorded: return "not recorded";
    }
    return "computing";
}

std::vector<TimeUse> time_uses(const Frame& frame) {
    const FrameNodes& nodes = frame.nodes;
    std::vector<TimeUse> uses(nodes.size(), TimeUse::Computing);
    for (std::size_t n = 1; n < nodes.size(); ++n) {
        const std::string &name = frame.name_of(static_cast<std::uint32_t>(n)), &type = frame.texts[nodes.kind[n]];
        if (const auto own = use_of_bracketed(name)) {
            uses[n] = *own;
            continue;
        }
        const std::uint32_t parent = nodes.parent[n];
        if (uses[parent] != TimeUse::Computing && frame.texts[nodes.kind[parent]] != "mpi") {
            uses[n] = uses[parent];
            continue;
        }
        if (type == "iterations" || type == "phase" || type == "other") continue;
        if (const auto call = use_of_library_call(name))
            uses[n] = *call;
        else if (const std::string_view wait = waiting_kind(short_function_name(name), base_name(frame.texts[nodes.module[n]])); !wait.empty())
            uses[n] = use_of_wait(wait);
    }
    return uses;
}

} // namespace libprofile::tools
