#include "tools/names/loop_names.hpp"

#include "tools/names/labels.hpp"
#include "tools/reader/loop_phases.hpp"
#include "tools/reader/same_module.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

/// The loop as the rank saw it that gave the phase its name.
const FoundLoop* loop_of(const Profile& profile, const Phase& phase) {
    for (const Location& location : profile.locations) {
        if (!location.loop_search) continue;
        for (const FoundLoop& loop : location.loop_search->loops)
            if (loop.recorded_as == phase.recorded_as.front()) return &loop;
    }
    return nullptr;
}

struct Named {
    std::uint32_t phase;
    std::string name;   // "loop in run"
    std::string source; // " at run.cpp:42", or " (lmp+0x1a2b)"
};

/// The name of a call site in the loop's function; empty if there is none.
SiteName name_at(const Profile& profile, const FoundLoop& loop, std::uint64_t offset) {
    if (loop.is(LoopIsPython)) {
        CallPath path;
        path.kind = NodeKind::Python;
        path.target = static_cast<std::uint32_t>(offset);
        path.address = loop.function;
        const Label label = label_of(profile, path);
        return {label.name, label.file, label.line};
    }
    const Site* site = site_at(profile, loop.module, offset);
    return site == nullptr ? SiteName() : site->name;
}

} // namespace

const Site* site_at(const Profile& profile, const Module& module, std::uint64_t offset) {
    for (const Site& site : profile.sites) {
        if (site.offset != offset || !is_same_module(profile.modules[site.module], module)) continue;
        return site.name.function.empty() ? nullptr : &site;
    }
    return nullptr;
}

std::string place_text(const FoundLoop& loop, std::uint64_t offset) {
    return loop.is(LoopIsPython) ? fmt::format("{}:{}", printable(base_name(loop.module.path)), offset)
                                 : fmt::format("{}+{:#x}", printable(base_name(loop.module.path)), offset);
}

std::string site_text(const Profile& profile, const FoundLoop& loop, std::uint64_t offset) {
    // The function that the compiler made; code inlined there is the caller's own.
    const SiteName name = name_at(profile, loop, offset);
    if (name.function.empty()) return place_text(loop, offset);
    std::string text = printable(short_function_name(name.function));
    if (name.line != 0) text += fmt::format(" at {}:{}", printable(base_name(name.file)), name.line);
    return text;
}

void name_loops(Profile& profile) {
    std::vector<Named> all;
    for (std::uint32_t p = 0; p < profile.phases.size(); ++p) {
        const Phase& phase = profile.phases[p];
        const FoundLoop* loop = phase.recorded_as.empty() ? nullptr : loop_of(profile, phase);
        const SiteName name = loop == nullptr ? SiteName() : name_at(profile, *loop, loop->offset);
        if (name.function.empty()) continue;
        all.push_back({p, loop_name_start + short_function_name(name.function),
                       name.line != 0 ? fmt::format(" at {}:{}", base_name(name.file), name.line) : fmt::format(" ({})", place_text(*loop, loop->offset))});
    }
    for (const Named& one : all) {
        const auto count = [&](auto is_same) { return std::count_if(all.begin(), all.end(), is_same); };
        const bool is_only = count([&](const Named& other) { return other.name == one.name; }) == 1;
        const bool is_only_there = count([&](const Named& other) { return other.name == one.name && other.source == one.source; }) == 1;
        rename_loop_phase(profile, one.phase,
                          is_only         ? one.name
                          : is_only_there ? one.name + one.source
                                          : fmt::format("{} ({})", one.name, profile.phases[one.phase].recorded_as.front()));
    }
}

} // namespace libprofile::tools
