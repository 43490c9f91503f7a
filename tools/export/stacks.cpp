#include "tools/export/stacks.hpp"

namespace libprofile::tools {

void require_short_stacks(const CallTable& table) {
    constexpr std::uint64_t most = 100'000'000;
    std::vector<std::uint64_t> depth(table.nodes.size());
    std::uint64_t sum = 0;
    for (std::size_t n = 1; n < depth.size(); ++n) {
        depth[n] = depth[table.nodes[n].parent] + 1;
        sum += depth[n];
    }
    if (sum > most)
        throw ExportError(
            "call paths are too deep for a format that repeats them; choose hpctoolkit, cubex or csv");
}

} // namespace libprofile::tools
