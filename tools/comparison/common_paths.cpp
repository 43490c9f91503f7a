#include "tools/comparison/common_paths.hpp"

#include "libprofile/base/hashing.hpp"
#include "tools/frames/matching_name.hpp"
#include "tools/names/labels.hpp"

#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace libprofile::tools {

namespace {

std::uint64_t hash_of_text(const std::string& text) { return std::hash<std::string>()(text); }

/// A function, as the source calls it.
struct SourceName {
    std::string name, file;

    SourceName(const Profile& profile, const CallPath& path) {
        const Label label = label_of(profile, path);
        name = matching_name(label.name);
        file = base_name(label.file);
    }
};

/// Names that functions of several files have in one run.
std::unordered_set<std::string> ambiguous_names(std::span<const Profile* const> profiles) {
    std::unordered_set<std::string> ambiguous;
    for (const Profile* profile : profiles) {
        std::unordered_map<std::string, std::string> file_of;
        for (const CallPath& path : profile->paths) {
            const SourceName source(*profile, path);
            if (source.file.empty()) continue;
            const auto [known, is_new] = file_of.try_emplace(source.name, source.file);
            if (!is_new && known->second != source.file) ambiguous.insert(source.name);
        }
    }
    return ambiguous;
}

} // namespace

CommonPaths::CommonPaths(std::span<const Profile* const> profiles) : parent_{0}, key_{0}, name_{""} {
    const std::unordered_set<std::string> ambiguous = ambiguous_names(profiles);
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> known; // by parent and key
    const auto path_of = [&](std::uint32_t parent, std::uint64_t key, const auto& name) {
        const auto [found, is_new] = known.try_emplace({parent, key}, static_cast<std::uint32_t>(parent_.size()));
        if (is_new) {
            parent_.push_back(parent);
            key_.push_back(key);
            name_.push_back(name());
        }
        return found->second;
    };
    for (const Profile* profile : profiles) {
        std::vector<std::uint32_t>& common = common_.emplace_back(1);
        for (std::size_t p = 1; p < profile->paths.size(); ++p) {
            const CallPath& path = profile->paths[p];
            const SourceName source(*profile, path);
            std::uint64_t key = mix(hash_of_text(source.name));
            if (ambiguous.contains(source.name)) key = mix(key ^ (hash_of_text(source.file) + golden));
            common.push_back(path_of(common[path.parent], key, [&] { return short_function_name(source.name); }));
        }
        for (const Phase& phase : profile->phases) common.push_back(path_of(0, mix(hash_of_text(phase.name) + golden), [&] { return "phase " + phase.name; }));
    }
}

} // namespace libprofile::tools
