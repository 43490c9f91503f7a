// Text for XML documents.
// Contract: thread-safe (no state); allocates its result.
#pragma once

#include "tools/names/labels.hpp"

#include <string>

namespace libprofile::tools {

/// As content or as the value of an attribute. What XML cannot hold (control characters, broken UTF-8) becomes '?'.
inline std::string xml_text(const std::string& text) {
    std::string out;
    for (const char c : printable(text)) switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += c;
        }
    return out;
}

} // namespace libprofile::tools
