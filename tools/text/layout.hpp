// Columns, numbers and colours of text for people.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
// Widths are counted in code points; wide and combining characters are not taken into account.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// How text may look.
struct TextStyle {
    int width = 100; // columns, at least 80
    bool unicode = true;
    bool colour = false;
};

enum class Tint { Title, Heading, Dim, Good, Warning };

/// The text in a colour where the style has colours.
std::string tinted(const TextStyle& style, Tint tint, const std::string& text);

/// Number of columns.
std::size_t columns(const std::string& text);

/// Filled up with blanks, or cut with an ellipsis, to exactly `width` columns.
std::string left(const TextStyle& style, const std::string& text, std::size_t width);
std::string right(const TextStyle& style, const std::string& text, std::size_t width);

/// Cut with an ellipsis in front, so that the end stays ("...solver.cpp:12").
std::string keep_end(const TextStyle& style, const std::string& text, std::size_t width);

/// Breaks at blanks into lines of at most `width` columns; longer words stay whole, numbers keep their units.
std::vector<std::string> wrapped(const std::string& text, std::size_t width);

/// A sentence with the signs that the style has: "+-" as one sign, or "us" for microseconds.
std::string spelled(const TextStyle& style, std::string text);

/// A horizontal bar of `share` (0 to 1) of `width` columns, in eighths of a column, not filled up.
std::string bar(const TextStyle& style, double share, std::size_t width);

/// "12.3 ms": three significant digits; from two minutes on "2m05s", "3h20m".
std::string duration(double ns, const TextStyle& style);

/// "1,234,567"; from ten million on "12.3 M".
std::string count(double value);

/// "4.00 KiB".
std::string byte_size(double value);

/// A value of a metric in its unit ("ns", "count", "bytes", others as counts).
std::string quantity(double value, const std::string& unit, const TextStyle& style);

/// "12.3 %", "0.04 %".
std::string percent(double share);

} // namespace libprofile::tools
