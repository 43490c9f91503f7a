#include "tools/timeseries/contexts.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

bool is_function(NodeKind kind) { return kind == NodeKind::Frame || kind == NodeKind::Python || kind == NodeKind::Unknown; }

} // namespace

Contexts::Contexts(const Profile& profile, const LoopSource* loops)
    : profile_(&profile), loops_(loops), around_(profile.paths.size(), unknown), calls_(profile.paths.size(), unknown), partial_(profile.paths.size()) {
    for (std::size_t path = 1; path < profile.paths.size(); ++path)
        partial_[path] = profile.paths[path].kind == NodeKind::Partial || partial_[profile.paths[path].parent];
}

std::uint32_t Contexts::frame_of(std::uint32_t path) const {
    while (profile_->paths[path].kind == NodeKind::Inlined) path = profile_->paths[path].parent;
    return path;
}

/// As the common ancestors of samples count: without functions that were inlined.
std::uint32_t Contexts::depth_of(std::uint32_t path) const {
    std::uint32_t depth = 0;
    for (; path != 0; path = profile_->paths[path].parent) depth += profile_->paths[path].kind != NodeKind::Inlined;
    return depth;
}

ContextId Contexts::child(ContextId parent, ContextKind kind, std::uint64_t value, std::uint32_t needs, std::uint32_t path, std::uint64_t header) {
    const auto [at, is_new] = known_.try_emplace({parent, kind, value}, static_cast<ContextId>(contexts_.size()));
    if (!is_new) return at->second;
    Context context;
    context.parent = parent;
    context.kind = kind;
    context.level = contexts_[parent].level + 1;
    context.needs = needs;
    context.path = path;
    context.loop = header;
    context.phase = kind == ContextKind::Known ? value : 0;
    context.sibling = contexts_[parent].children++;
    std::uint32_t site = path; // the frame that the context lies in
    if (!is_function(profile_->paths[site].kind)) site = frame_of(profile_->paths[site].parent);
    if (profile_->paths[site].kind == NodeKind::Frame) {
        const Site& code = profile_->sites[profile_->paths[site].target];
        context.has_place = true;
        context.place = {code.module, code.offset};
    }
    contexts_.push_back(context);
    return at->second;
}

/// The innermost loop around the instruction that ends the call path, or else the call of its function.
ContextId Contexts::around(std::uint32_t path) {
    if (around_[path] != unknown) return around_[path];
    const CallPath& node = profile_->paths[path];
    const std::uint32_t caller = frame_of(node.parent);
    ContextId context = caller == 0 ? 0 : of_call(caller);
    if (loops_ != nullptr && node.kind == NodeKind::Frame) {
        const Site& site = profile_->sites[node.target];
        const std::uint32_t depth = depth_of(path);
        for (const std::uint64_t loop : loops_->loops_around({site.module, site.offset})) context = child(context, ContextKind::Loop, loop, depth, path, loop);
    }
    return around_[path] = context;
}

ContextId Contexts::of_call(std::uint32_t path) {
    if (calls_[path] != unknown) return calls_[path];
    const CallPath& node = profile_->paths[path];
    const std::uint32_t depth = depth_of(path);
    if (is_function(node.kind)) return calls_[path] = child(around(path), ContextKind::Call, path, depth + 1, path, 0);
    const std::uint32_t caller = frame_of(node.parent);
    const ContextId parent = caller == 0 ? 0 : is_function(profile_->paths[caller].kind) ? around(caller) : of_call(caller);
    return calls_[path] = child(parent, ContextKind::Call, path, std::max(depth, 1u) - 1, path, 0);
}

ContextId Contexts::of_sample(std::uint32_t path) {
    path = frame_of(path);
    if (path == 0) return 0;
    return is_function(profile_->paths[path].kind) ? around(path) : of_call(path);
}

ContextId Contexts::seen(std::uint32_t path) const {
    path = frame_of(path);
    if (path == 0) return 0;
    return is_function(profile_->paths[path].kind) ? around_[path] : calls_[path];
}

ContextId Contexts::inside(ContextId context, ContextId replaced, std::uint64_t phase) {
    const Context c = contexts_[context];
    if (c.level < contexts_[replaced].level) return context;
    if (context == replaced) {
        const bool is_loop = c.kind == ContextKind::Loop;
        return child(is_loop ? c.parent : context, ContextKind::Known, phase, c.needs, c.path, c.loop);
    }
    const ContextId parent = inside(c.parent, replaced, phase);
    const std::uint64_t value = c.kind == ContextKind::Call ? c.path : c.kind == ContextKind::Loop ? c.loop : c.phase;
    return parent == c.parent ? context : child(parent, c.kind, value, c.needs, c.path, c.loop);
}

ContextId Contexts::common(ContextId one, ContextId other, std::uint32_t activations) const {
    const std::uint32_t level = std::min(contexts_[one].level, contexts_[other].level);
    one = at_level(one, level);
    other = at_level(other, level);
    while (one != other) {
        one = contexts_[one].parent;
        other = contexts_[other].parent;
    }
    while (contexts_[one].needs > activations) one = contexts_[one].parent;
    return one;
}

} // namespace libprofile::tools
