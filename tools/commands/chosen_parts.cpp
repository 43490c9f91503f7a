#include "tools/commands/chosen_parts.hpp"

#include "tools/commands/command.hpp"
#include "tools/report/choice.hpp"
#include "tools/text/number_list.hpp"

#include <fmt/format.h>

namespace libprofile::tools {

IterationRange iterations_option(const std::string& text) {
    if (const auto range = parse_iterations(text)) return *range;
    throw UsageError(fmt::format("--iterations {} is not a range; write first:last, counted from 1, such as 1:100", text));
}

std::vector<std::uint32_t> ranks_option(const std::string& text) {
    if (auto ranks = parse_number_list(text)) return *std::move(ranks);
    throw UsageError(fmt::format("--rank {} is not a list of ranks; write them like 0,4-7", text));
}

std::optional<AlignBy> align_option(const std::string& text) {
    if (text.empty()) return {};
    if (const auto by = align_by_named(text)) return by;
    throw UsageError(fmt::format("--align {} is no way to align iterations; there are structure, work, step, progress", text));
}

std::vector<std::string> metrics_option(const std::string& text) {
    std::vector<std::string> names = words_of_list(text);
    if (names.empty()) throw UsageError("--metric needs names, such as time,bytes; docs/metrics.md lists them");
    return names;
}

SourceMap source_map_option(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
        throw UsageError(fmt::format(
            "--source-map {} is not OLD=NEW; write the folder in the profile and the one that has the files, such as /build/app=/home/me/app", text));
    std::string to = text.substr(equals + 1);
    while (to.size() > 1 && to.back() == '/') to.pop_back();
    return {text.substr(0, equals), to};
}

} // namespace libprofile::tools
