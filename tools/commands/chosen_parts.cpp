#include "tools/commands/chosen_parts.hpp"

#include "tools/commands/command.hpp"
#include "tools/text/number_list.hpp"

#include <fmt/format.h>
#include <limits>

namespace libprofile::tools {

std::optional<IterationRange> parse_iterations(std::string_view text) {
    const auto range = parse_range(text, 1);
    if (!range) return std::nullopt;
    const bool open = range->second == std::numeric_limits<std::uint64_t>::max();
    return IterationRange{range->first - 1, open ? range->second : range->second - 1};
}

IterationRange iterations_option(const std::string& text) {
    if (const auto range = parse_iterations(text)) return *range;
    throw UsageError(fmt::format("--iterations {} is no range; write first:last, counted from 1, such as 1:100", text));
}

std::vector<std::uint32_t> ranks_option(const std::string& text) {
    if (auto ranks = parse_number_list(text)) return *std::move(ranks);
    throw UsageError(fmt::format("--rank {} is no list of ranks; write them like 0,4-7", text));
}

} // namespace libprofile::tools
