#include "tools/processes/process_pictures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace libprofile::tools {

std::string state_letters(const RankStates& states) {
    std::string letters;
    if (states.computing_state != no_state) letters = "cwpgsofmt";
    while (letters.size() < states.names.size()) letters += letters.size() < 26 ? static_cast<char>('A' + letters.size()) : '*';
    return letters;
}

std::string strip_line(const std::vector<FoldedSpan>& strip, const std::string& letters, std::uint64_t first, const ChartColumns& columns) {
    std::string line;
    std::size_t span = 0;
    for (std::size_t c = 0; c < columns.width; ++c) {
        const std::uint64_t begin = first + columns.begin(c), end = first + columns.end(c);
        while (span < strip.size() && strip[span].first + strip[span].length <= begin) ++span;
        std::array<std::uint64_t, 256> iterations = {};
        for (std::size_t s = span; s < strip.size() && strip[s].first < end; ++s) {
            const char letter = strip[s].state == no_state ? ' ' : letters[strip[s].state];
            iterations[static_cast<unsigned char>(letter)] += std::min(end, strip[s].first + strip[s].length) - std::max(begin, strip[s].first);
        }
        iterations[' '] = 0; // a column is empty only if all of it is: one outlier must not vanish
        const auto most = std::max_element(iterations.begin(), iterations.end());
        line += *most == 0 ? ' ' : static_cast<char>(most - iterations.begin());
    }
    return line;
}

std::string map_line(const TextStyle& style, const ImbalanceMap& map, std::size_t row, const ChartColumns& columns, double full) {
    static constexpr std::array<const char*, 6> fine = {" ", "\u2591", "\u2592", "\u2593", "\u2588", "\u2588"}, plain = {" ", ":", "+", "x", "#", "#"};
    std::string line;
    for (std::size_t c = 0; c < columns.width; ++c) {
        double sum = 0, median = 0;
        for (std::size_t i = columns.begin(c); i < columns.end(c); ++i) {
            if (std::isnan(map.at(row, i))) continue;
            sum += map.at(row, i);
            median += map.median[i];
        }
        const double share = median > 0 ? sum / median / full : 0;
        if (share < -0.2)
            line += ".";
        else
            line += (style.unicode ? fine : plain)[static_cast<std::size_t>(std::clamp(share * 5, 0.0, 5.0))];
    }
    return line;
}

} // namespace libprofile::tools
