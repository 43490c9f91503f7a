#include "tools/processes/function_paths.hpp"

#include "libprofile/base/hashing.hpp"
#include "tools/names/labels.hpp"

#include <functional>
#include <map>
#include <utility>

namespace libprofile::tools {

namespace {

/// Not even its begin is known: each instruction would be a function.
bool has_no_name(const Profile& profile, const CallPath& node) {
    return node.kind == NodeKind::Unknown || (node.kind == NodeKind::Frame && profile.sites[node.target].name.function.empty());
}

} // namespace

FunctionPaths::FunctionPaths(const Profile& profile) : profile_(profile), of_path_(profile.paths.size()), parents_{0}, path_{0}, keys_{0} {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> known;
    const std::hash<std::string> hash;
    for (std::uint32_t path = 1; path < profile.paths.size(); ++path) {
        const CallPath& node = profile.paths[path];
        of_path_[path] = of_path_[node.parent];
        if (!is_code(node.kind) && node.kind != NodeKind::Unknown && node.kind != NodeKind::Mpi) continue;
        const Label label = label_of(profile, node); // its source file may be that of an inlined line
        const std::string name = has_no_name(profile, node) ? "" : label.name;
        const std::uint64_t key = mix(hash(name) ^ mix(hash(node.kind == NodeKind::Python ? label.file : label.module) + golden));
        const auto [at, is_new] = known.try_emplace({of_path_[path], key}, static_cast<std::uint32_t>(parents_.size()));
        if (is_new) {
            parents_.push_back(of_path_[path]);
            path_.push_back(path);
            keys_.push_back(key);
        }
        of_path_[path] = at->second;
    }
}

std::string FunctionPaths::name(std::uint32_t functions) const {
    if (functions == 0) return "the whole run";
    const CallPath& node = profile_.paths[path_[functions]];
    const Label label = label_of(profile_, node);
    if (node.kind == NodeKind::Unknown) return "code outside of program and libraries";
    return has_no_name(profile_, node) ? "functions of " + base_name(label.module) + " without a name" : short_function_name(label.name);
}

} // namespace libprofile::tools
