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

} // namespace

const Site* site_at(const Profile& profile, const Module& module, std::uint64_t offset) {
    for (const Site& site : profile.sites) {
        if (site.offset != offset || !is_same_module(profile.modules[site.module], module)) continue;
        return site.name.function.empty() ? nullptr : &site;
    }
    return nullptr;
}

const SiteName* name_at(const Profile& profile, const Module& module, std::uint64_t offset) {
    const Site* site = site_at(profile, module, offset);
    return site == nullptr ? nullptr : &site->name;
}

std::string site_text(const Profile& profile, const Module& module, std::uint64_t offset) {
    // The function that the compiler made; code inlined there is the caller's own.
    if (const SiteName* name = name_at(profile, module, offset)) {
        std::string text = printable(short_function_name(name->function));
        if (name->line != 0) text += fmt::format(" at {}:{}", printable(base_name(name->file)), name->line);
        return text;
    }
    return fmt::format("{}+{:#x}", printable(base_name(module.path)), offset);
}

void name_loops(Profile& profile) {
    std::vector<Named> all;
    for (std::uint32_t p = 0; p < profile.phases.size(); ++p) {
        const Phase& phase = profile.phases[p];
        const FoundLoop* loop = phase.recorded_as.empty() ? nullptr : loop_of(profile, phase);
        const SiteName* name = loop == nullptr ? nullptr : name_at(profile, loop->module, loop->offset);
        if (name == nullptr) continue;
        all.push_back({p, loop_name_start + short_function_name(name->function),
                       name->line != 0 ? fmt::format(" at {}:{}", base_name(name->file), name->line)
                                       : fmt::format(" ({}+{:#x})", base_name(loop->module.path), loop->offset)});
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
