#include "tools/view/line_entry.hpp"

#include "tools/analysis/line_source.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t around = 8; // lines before and after each that has values
constexpr std::size_t most_called = 5;

/// @param numbers of lines with values, in ascending order
Json pieces(const std::vector<std::string>& text, const std::vector<std::uint64_t>& numbers) {
    Json list = Json::array();
    std::uint64_t done = 0; // the last line that is there
    for (const std::uint64_t number : numbers) {
        if (number == 0 || number > text.size()) continue;
        const std::uint64_t first = std::max(number > around ? number - around : 1, done + 1);
        const std::uint64_t last = std::min<std::uint64_t>(number + around, text.size());
        if (list.empty() || first > done + 1) list.push_back({{"first", first}, {"lines", Json::array()}});
        for (std::uint64_t i = first; i <= last; ++i) list.back()["lines"].push_back(text[i - 1]);
        done = std::max(done, last);
    }
    return list;
}

/// Null if it is not known.
Json error_of(const SelectedValue& value, const std::vector<SampleStratum>& strata) {
    if (value.bound == no_bound) return nullptr;
    return value.bound + (value.parts.empty() ? 0 : static_cast<std::uint64_t>(std::llround(sampling_error(value.parts, strata))));
}

} // namespace

Json line_entry(const Profile& profile, const std::string& function, const FunctionLines& found, std::array<std::size_t, 3> at,
                const std::vector<SourceMap>* maps) {
    Json files = Json::array();
    for (std::size_t begin = 0; begin < found.lines.size();) {
        const std::string& name = found.lines[begin].file;
        Json lines = Json::array();
        std::vector<std::uint64_t> numbers;
        std::size_t end = begin;
        for (; end < found.lines.size() && found.lines[end].file == name; ++end) {
            const FunctionLine& line = found.lines[end];
            Json called = Json::array();
            for (std::size_t i = 0; i < std::min(line.called.size(), most_called); ++i) called.push_back(line.called[i]);
            lines.push_back({line.line, line.inclusive[at[0]].value, line.own[at[0]].value, line.own[at[1]].value, line.inclusive[at[2]].value,
                             line.inclusive[at[0]].estimated ? 1 : 0, called, error_of(line.inclusive[at[0]], found.strata),
                             error_of(line.own[at[0]], found.strata)});
            numbers.push_back(line.line);
        }
        const LineSource source =
            maps == nullptr && !name.empty() ? LineSource{} : source_of(profile, found, name, maps == nullptr ? std::vector<SourceMap>() : *maps);
        files.push_back({{"name", name}, {"note", source.note}, {"lines", lines}, {"text", pieces(source.text.lines, numbers)}});
        begin = end;
    }
    const auto error = [&](const std::vector<SelectedValue>& values) { return values.empty() ? Json(0) : error_of(values[at[0]], found.strata); };
    const auto sum = [&](const std::vector<SelectedValue>& values, std::size_t m) { return values.empty() ? 0 : values[m].value; };
    return {{"function", function},
            {"own", sum(found.own, at[0])},
            {"inclusive", sum(found.inclusive, at[0])},
            {"own_error", error(found.own)},
            {"inclusive_error", error(found.inclusive)},
            {"samples", sum(found.own, at[1])},
            {"files", files}};
}

} // namespace libprofile::tools
