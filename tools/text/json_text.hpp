// JSON for terminals and files: as text that cannot control whoever shows it.
// Contract: thread-safe (no state); allocates its result.
#pragma once

#include "format/shown_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>

namespace libprofile::tools {

/// The same JSON, with escapes for characters that are not shown as themselves; they occur in strings only.
inline std::string with_escapes(const std::string& json) {
    std::string out;
    for (std::size_t i = 0; i < json.size();) {
        const ShownCharacter c = shown_character(json.data() + i, json.size() - i);
        if (c.is_shown || c.code == '\n')
            out.append(json, i, c.length);
        else if (c.code < 0x10000)
            out += fmt::format("\\u{:04x}", c.code == 0 ? 0xfffd : c.code);
        else
            out += fmt::format("\\u{:04x}\\u{:04x}", 0xd7c0 + (c.code >> 10), 0xdc00 + (c.code & 0x3ff));
        i += c.length;
    }
    return out;
}

/// In one line, or with `indent` columns a level. Bytes that are no UTF-8 are replaced.
inline std::string json_text(const nlohmann::ordered_json& json, int indent = -1) {
    return with_escapes(json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

} // namespace libprofile::tools
