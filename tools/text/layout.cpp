#include "tools/text/layout.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

/// Byte position of the code point number `n`.
std::size_t byte_of(const std::string& text, std::size_t n) {
    std::size_t at = 0;
    for (; at < text.size(); ++at)
        if ((static_cast<unsigned char>(text[at]) & 0xc0u) != 0x80u && n-- == 0) break;
    return at;
}

/// Three significant digits.
std::string digits(double value) {
    if (value >= 99.95) return fmt::format("{:.0f}", value);
    return fmt::format("{:.{}f}", value, value >= 9.995 ? 1 : 2);
}

const char* ellipsis(const TextStyle& style) { return style.unicode ? "…" : "~"; }

} // namespace

std::string tinted(const TextStyle& style, Tint tint, const std::string& text) {
    if (!style.colour || text.empty()) return text;
    const char* code = "";
    switch (tint) {
    case Tint::Title: code = "1"; break;
    case Tint::Heading: code = "1;36"; break;
    case Tint::Dim: code = "2"; break;
    case Tint::Good: code = "32"; break;
    case Tint::Warning: code = "33"; break;
    }
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::size_t columns(const std::string& text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; }));
}

std::string left(const TextStyle& style, const std::string& text, std::size_t width) {
    const std::size_t have = columns(text);
    if (have <= width) return text + std::string(width - have, ' ');
    if (width == 0) return "";
    return text.substr(0, byte_of(text, width - 1)) + ellipsis(style);
}

std::string right(const TextStyle& style, const std::string& text, std::size_t width) {
    const std::size_t have = columns(text);
    return have <= width ? std::string(width - have, ' ') + text : left(style, text, width);
}

std::string keep_end(const TextStyle& style, const std::string& text, std::size_t width) {
    const std::size_t have = columns(text);
    if (have <= width) return text;
    if (width == 0) return "";
    return ellipsis(style) + text.substr(byte_of(text, have - width + 1));
}

namespace {

/// Whether the blank at `at` stands between a number and its unit: "12.3 ms", "4 %)".
bool is_in_quantity(const std::string& text, std::size_t at) {
    if (at == 0 || text[at - 1] < '0' || text[at - 1] > '9') return false;
    for (const char* unit : {"%", "s", "ms", "µs", "us", "ns", "B", "KiB", "MiB", "GiB", "TiB"}) {
        const std::string_view word(unit);
        const std::size_t end = at + 1 + word.size();
        if (text.compare(at + 1, word.size(), word) == 0 && (end >= text.size() || std::string_view(" ,;:.)").find(text[end]) != std::string_view::npos))
            return true;
    }
    return false;
}

} // namespace

std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
    std::vector<std::string> lines;
    std::string line;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = std::min(text.find(' ', at), text.size());
        while (end < text.size() && is_in_quantity(text, end)) end = std::min(text.find(' ', end + 1), text.size());
        const std::string word = text.substr(at, end - at);
        if (!line.empty() && columns(line) + 1 + columns(word) > width) {
            lines.push_back(line);
            line.clear();
        }
        if (!line.empty()) line += ' ';
        line += word;
        at = end + 1;
    }
    if (!line.empty() || lines.empty()) lines.push_back(line);
    return lines;
}

std::string spelled(const TextStyle& style, std::string text) {
    const std::string from = style.unicode ? "+-" : "µ", to = style.unicode ? "±" : "u";
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, from.size(), to);
    return text;
}

std::string bar(const TextStyle& style, double share, std::size_t width) {
    const double length = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
    if (!style.unicode) return std::string(static_cast<std::size_t>(std::lround(length)), '#');
    constexpr const char* parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto eighths = static_cast<std::size_t>(std::lround(length * 8));
    std::string out;
    for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
    return out + parts[eighths % 8];
}

std::string duration(double ns, const TextStyle& style) {
    if (ns < 0) return "-" + duration(-ns, style);
    if (ns == 0) return "0 s";
    if (ns < 999.5) return fmt::format("{:.0f} ns", ns);
    if (ns < 999.5e3) return digits(ns / 1e3) + (style.unicode ? " µs" : " us");
    if (ns < 999.5e6) return digits(ns / 1e6) + " ms";
    if (ns < 120e9) return digits(ns / 1e9) + " s";
    const auto seconds = static_cast<std::uint64_t>(ns / 1e9);
    if (seconds < 7200) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
    return fmt::format("{}h{:02}m", seconds / 3600, seconds / 60 % 60);
}

std::string count(double value) {
    if (value >= 1e7) {
        constexpr const char* units[] = {" M", " G", " T", " P", " E"};
        std::size_t unit = 0;
        value /= 1e6;
        for (; value >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1e3;
        return digits(value) + units[unit];
    }
    if (value < 100 && value != std::floor(value)) return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : 1); // means of small numbers
    std::string text = fmt::format("{:.0f}", value);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
    return text;
}

std::string byte_size(double value) {
    constexpr const char* units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    std::size_t unit = 0;
    for (; value >= 999.5 && unit + 1 < std::size(units); ++unit) value /= 1024;
    return (unit == 0 ? fmt::format("{:.0f}", value) : digits(value)) + units[unit];
}

std::string quantity(double value, const std::string& unit, const TextStyle& style) {
    if (unit == "ns") return duration(value, style);
    if (unit == "bytes") return byte_size(value);
    return count(value);
}

std::string percent(double share) {
    const double value = share * 100;
    if (value != 0 && value < 0.095) return fmt::format("{:.2f} %", value);
    return fmt::format("{:.1f} %", value);
}

} // namespace libprofile::tools
