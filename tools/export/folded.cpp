// Folded stacks, as flamegraph.pl and its relatives read them: "main;solve;MPI_Waitall 1234", one metric, integers (others are
// refused by some readers).
#include "tools/export/formats.hpp"
#include "tools/export/location_name.hpp"
#include "tools/export/stacks.hpp"

#include "tools/names/labels.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

namespace {

/// ';' separates frames, and a line ends a stack.
std::string frame(const std::string& name) {
    std::string out = printable(name);
    for (char& c : out)
        if (c == ';') c = ':';
    return out;
}

void add_stacks(const CallTable& table, const std::string& prefix, const std::vector<std::uint64_t>& values, std::string& out) {
    for (const std::uint32_t n : pre_order(table)) {
        if (values[n] == 0) continue;
        std::string stack = prefix;
        for (const std::uint32_t step : table.path_to(n)) stack += (stack.empty() ? "" : ";") + frame(table.nodes[step].name);
        if (stack.empty()) stack = "(no call path)";
        out += fmt::format("{} {}\n", stack, values[n]);
    }
}

} // namespace

Remarks write_folded(const Profile& profile, const ExportRequest& request, Sink& sink) {
    const CallTable table = make_viewer_table(profile, request.choice);
    if (table.metrics.size() != 1) throw ExportError("folded stacks hold one metric; name one with --metric and write a file for each");
    std::string out;
    if (request.by_rank)
        for (std::size_t p = 0; p < table.locations.size(); ++p)
            add_stacks(table, location_name(table.locations[p].rank, table.locations[p].thread), table.exclusive(p, 0), out);
    else
        add_stacks(table, "", table.exclusive_everywhere(0), out);
    sink.add("profile.folded", out);
    return untold_remarks(table);
}

} // namespace libprofile::tools
