#include "tools/timeseries/context_names.hpp"

#include "tools/names/labels.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

ContextNames::ContextNames(const Profile& profile, const Contexts& contexts, const BinaryLoops& loops)
    : profile_(&profile), contexts_(&contexts), loops_(&loops), callee_(profile.paths.size()), has_many_callees_(profile.paths.size()) {
    for (std::uint32_t path = 1; path < profile.paths.size(); ++path) {
        if (!is_code(profile.paths[path].kind) || profile.paths[path].kind == NodeKind::Inlined) continue;
        std::uint32_t caller = profile.paths[path].parent;
        while (profile.paths[caller].kind == NodeKind::Inlined) caller = profile.paths[caller].parent;
        if (callee_[caller] == 0)
            callee_[caller] = path;
        else if (!has_many_callees_[caller])
            has_many_callees_[caller] = function_of(path) != function_of(callee_[caller]);
    }
}

std::string ContextNames::function_of(std::uint32_t path) const { return short_function_name(printable(label_of(*profile_, profile_->paths[path]).name)); }

SiteName ContextNames::loop(ContextId id) const {
    const Context& context = (*contexts_)[id];
    SiteName name;
    if (context.has_place) {
        const BinaryLoops::Source source = loops_->source({context.place.module, context.loop});
        name.file = source.file;
        name.line = source.line;
    }
    std::uint32_t path = context.path; // may be a call of MPI inside
    while (path != 0 && !is_code(profile_->paths[path].kind)) path = profile_->paths[path].parent;
    while (profile_->paths[path].kind == NodeKind::Inlined) path = profile_->paths[path].parent;
    name.function = function_of(path);
    return name;
}

/// The function that a call leads to on the way to `inner`.
std::string ContextNames::called_by(ContextId id, ContextId inner) const {
    const std::uint32_t call = (*contexts_)[id].path;
    if (callee_[call] == 0) return "a call";
    if (!has_many_callees_[call]) return function_of(callee_[call]);
    std::uint32_t below = 0; // the last frame before the call
    if (inner != id)
        for (std::uint32_t path = (*contexts_)[inner].path; path > call; path = profile_->paths[path].parent)
            if (profile_->paths[path].kind != NodeKind::Inlined) below = path;
    return below != 0 ? function_of(below) : function_of(callee_[call]) + " or others";
}

std::string ContextNames::name(ContextId id, ContextId inner) const {
    const Context& context = (*contexts_)[id];
    if (context.kind == ContextKind::Root) return "the whole run";
    if (context.kind == ContextKind::Known) return fmt::format("loop \"{}\"", printable(profile_->phases[context.phase].name));
    if (context.kind == ContextKind::Loop) {
        const SiteName source = loop(id);
        return source.line == 0 ? fmt::format("loop in {} at {:#x}", source.function, context.loop)
                                : fmt::format("loop at {}:{}", printable(base_name(source.file)), source.line);
    }
    if (!is_code(profile_->paths[context.path].kind)) return function_of(context.path);
    return called_by(id, inner == 0 ? id : inner);
}

std::vector<std::string> ContextNames::path(ContextId id) const {
    std::vector<std::string> names;
    ContextId outermost = id;
    for (ContextId at = id; at != 0; at = (*contexts_)[at].parent) {
        names.push_back(name(at, id));
        outermost = at;
    }
    if (outermost != 0 && is_code(profile_->paths[(*contexts_)[outermost].path].kind)) names.push_back(function_of((*contexts_)[outermost].path));
    std::reverse(names.begin(), names.end());
    if (const auto main = std::find(names.begin(), names.end(), "main"); main != names.end()) names.erase(names.begin(), main);
    if (names.empty()) names.push_back(name(0));
    return names;
}

} // namespace libprofile::tools
