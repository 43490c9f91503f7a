#include "tools/analysis/affinity.hpp"
#include "tools/names/labels.hpp"
#include "tools/report/sections.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t most_machines = 8;
constexpr std::size_t most_cores = 16; // of a machine

/// How often the main threads of ranks were found on another processor than before.
std::string moves_words(const Profile& profile, const std::vector<std::uint64_t>& ranks) {
    std::uint64_t looks = 0, moves = 0;
    for (const std::uint64_t rank : ranks)
        if (const ThreadAffinity* thread = profile.ranks.at(static_cast<std::uint32_t>(rank)).affinity->thread(0)) {
            looks += thread->looks;
            moves += thread->moves;
        }
    if (looks == 0) return "";
    return moves == 0 ? "never seen to move"
                      : fmt::format("moved in {} of {} observations", count(static_cast<double>(moves)), count(static_cast<double>(looks)));
}

} // namespace

void append_system(const ReportContext& context, TextWriter& to) {
    const std::vector<UsedMachine> machines = used_machines(context.profile);
    if (machines.empty()) return;
    const auto line = [&](std::size_t indent, const std::string& text) { to.paragraph(text, std::string(indent, ' '), std::string(indent, ' ')); };
    to.heading("System", "where the main threads of ranks were last seen");
    std::size_t n = 0;
    for (const UsedMachine& machine : machines) {
        if (n++ == most_machines) {
            line(2, fmt::format("... and {} more machines", machines.size() - most_machines));
            break;
        }
        const std::string words = machine_words(machine.info), binding = binding_words(machine);
        line(2, fmt::format("{}{}{}", machine.host.empty() ? "(host unknown)" : printable(machine.host), words.empty() ? "" : ": ", words));
        line(4, fmt::format("{}{}{}", rank_words(machine.ranks), binding.empty() ? "" : "; ", binding));
        const bool several_nodes =
            std::any_of(machine.cores.begin(), machine.cores.end(), [&](const UsedCore& core) { return core.numa_node != machine.cores[0].numa_node; });
        std::optional<std::uint32_t> node;
        bool is_first = true;
        std::size_t shown = 0;
        for (const UsedCore& core : machine.cores) {
            if (shown++ == most_cores) {
                line(4, fmt::format("... and {} more cores; --format json has all", machine.cores.size() - most_cores));
                break;
            }
            if (core.numa_node && (is_first || core.numa_node != node) && (several_nodes || machine.info.numa_nodes > 1))
                line(4, fmt::format("NUMA node {}", *core.numa_node));
            node = core.numa_node;
            is_first = false;
            const std::string moves = moves_words(context.profile, core.ranks);
            line(6, fmt::format("{}: {}{}{}", core.core ? fmt::format("core {}", *core.core) : "core unknown", rank_words(core.ranks),
                                moves.empty() ? "" : ", ", moves));
        }
    }
}

} // namespace libprofile::tools
