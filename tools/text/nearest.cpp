#include "tools/text/nearest.hpp"

#include <algorithm>
#include <cctype>

namespace libprofile::tools {

namespace {

std::string lower(std::string text) {
    for (char& c : text) c = c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

std::size_t distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

} // namespace

std::string nearest_name(const std::string& name, const std::vector<std::string>& names) {
    constexpr std::size_t longest = 200; // names of a hostile profile
    if (name.empty() || name.size() > longest) return "";
    const std::string wanted = lower(name);
    std::string best;
    std::size_t least = std::max<std::size_t>(2, wanted.size() / 3) + 1;
    for (const std::string& candidate : names) {
        if (candidate.empty() || candidate.size() > longest) continue;
        const std::size_t d = distance(wanted, lower(candidate));
        if (d < least) best = candidate, least = d;
    }
    if (!best.empty() || wanted.size() < 3) return best;
    // The shortest that contains it: "p2p" or "barrier".
    for (const std::string& candidate : names)
        if (lower(candidate).find(wanted) != std::string::npos && (best.empty() || candidate.size() < best.size())) best = candidate;
    return best;
}

} // namespace libprofile::tools
