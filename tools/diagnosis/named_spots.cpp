#include "tools/diagnosis/named_spots.hpp"

#include "tools/names/labels.hpp"
#include "tools/names/waiting.hpp"

#include <string>

namespace libprofile::tools {

namespace {

std::vector<const Location*> main_threads_of(const Profile& profile) {
    std::vector<const Location*> list = main_threads(profile);
    std::erase(list, nullptr);
    return list;
}

} // namespace

NamedSpots::NamedSpots(const Profile& profile)
    : table(spot_table(profile)), tree(make_function_tree(profile, main_threads_of(profile), true, "")), is_io(profile.paths.size()),
      is_system(tree.nodes.size()), sleeps(tree.nodes.size()) {
    std::vector<SleepKind> kind(profile.paths.size());
    for (std::size_t p = 1; p < profile.paths.size(); ++p) {
        const CallPath& path = profile.paths[p];
        is_io[p] = is_io[path.parent];
        kind[p] = kind[path.parent];
        if (!is_code(path.kind)) continue;
        const Label label = label_of(profile, path);
        const std::string module = base_name(label.module);
        const std::string_view waits = waiting_kind(short_function_name(label.name), module);
        if (!is_io[p]) is_io[p] = waits == "I/O";
        if (kind[p] == SleepKind::None && !waits.empty()) kind[p] = waits == "I/O" ? SleepKind::Files : SleepKind::Other;
        if (kind[p] != SleepKind::None) sleeps[tree.node_of_path[p]] = kind[p];
        for (const char* system : {"linux-vdso", "libc.so", "libc-", "ld-linux"})
            if (module.starts_with(system)) is_system[tree.node_of_path[p]] = true;
    }
}

} // namespace libprofile::tools
