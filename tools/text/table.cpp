#include "tools/text/table.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

std::vector<std::string> split(const std::string& heading) {
    const std::size_t at = heading.find('\n');
    if (at == std::string::npos) return {"", heading};
    return {heading.substr(0, at), heading.substr(at + 1)};
}

} // namespace

std::string Table::text(const TextStyle& style) const {
    std::vector<std::vector<std::string>> lines(2);
    for (const std::string& heading : headings_)
        for (std::size_t line = 0; line < 2; ++line) lines[line].push_back(split(heading)[line]);
    if (std::all_of(lines[0].begin(), lines[0].end(), [](const auto& text) { return text.empty(); })) lines.erase(lines.begin());
    const std::size_t heads = lines.size();
    lines.insert(lines.end(), rows_.begin(), rows_.end());
    std::vector<std::size_t> widths(headings_.size());
    for (const auto& line : lines)
        for (std::size_t c = 0; c < line.size(); ++c) widths[c] = std::max(widths[c], columns(line[c]));
    std::string out;
    for (std::size_t l = 0; l < lines.size(); ++l) {
        std::string line;
        for (std::size_t c = 0; c < lines[l].size(); ++c) line += "  " + right(style, lines[l][c], widths[c]);
        out += (l < heads ? tinted(style, Tint::Dim, line) : line) + "\n";
    }
    return out;
}

} // namespace libprofile::tools
