#include "tools/view/machine_entry.hpp"

#include "tools/plot/machine_picture.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_parts = 20'000; // some 5 MB of SVG, of which compression leaves a twentieth

} // namespace

nlohmann::ordered_json machine_entry(const Profile& profile, Sections& sections) {
    std::vector<PlacedMachine> machines = placed_machines(profile);
    std::size_t parts = 0, drawn = 0;
    const std::size_t left_out = std::erase_if(machines, [&](const PlacedMachine& machine) {
        if (machine.tree == nullptr) return false;
        parts += machine.tree->nodes.size();
        drawn += parts > most_parts ? 0 : 1;
        return parts > most_parts;
    });
    if (drawn + left_out == 0) return nullptr;
    nlohmann::ordered_json notes = nlohmann::ordered_json::array();
    if (left_out != 0)
        notes.push_back(fmt::format("{} not in this page; libprofile report --machine --format svg draws all", plural(left_out, "more machine")));
    const std::string picture = machine_picture(machines).document();
    return {{"picture", sections.add_compressed(deflated(ByteList(picture.begin(), picture.end())))}, {"notes", notes}};
}

} // namespace libprofile::tools
