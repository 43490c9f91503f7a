// A JSON document of somebody else, and its parts with errors in words.
// Contract: thread-safe (no state); allocates; throws FrameError.
#pragma once

#include "tools/import/file_bytes.hpp"

#include <bit>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace libprofile::tools {

using Json = nlohmann::json;

/// About what the document of these bytes takes in memory, while it grows.
/// @param most it may be less than that if it is more
inline std::size_t json_memory(std::string_view bytes, std::size_t most) {
    constexpr std::size_t per_list = 72, per_object = 72, per_member = 48, per_text = 48;
    std::size_t memory = 0;
    std::vector<std::size_t> open; // values of the lists and objects that are open
    const auto close = [&] {
        memory += 3 * sizeof(Json) / 2 * std::bit_ceil(open.back() + 1); // a list that grows is there twice, the new one doubled
        open.pop_back();
    };
    bool is_text = false;
    for (std::size_t i = 0; i < bytes.size() && memory <= most; ++i) {
        const char c = bytes[i];
        if (c == '"') {
            is_text = !is_text;
            memory += is_text ? per_text : 0;
        } else if (is_text) {
            ++memory;
            i += c == '\\' ? 1 : 0;
        } else if (c == '[' || c == '{') {
            memory += c == '[' ? per_list : per_object;
            open.push_back(0);
        } else if ((c == ']' || c == '}') && !open.empty()) {
            close();
        } else if (c == ',' && !open.empty()) {
            ++open.back();
        } else if (c == ':') {
            memory += per_member;
        }
    }
    while (!open.empty()) close();
    return memory;
}

inline Json json_file(const std::filesystem::path& place, MemoryLimit& memory) {
    const std::string bytes = file_bytes(place, memory);
    memory.take(json_memory(bytes, memory.left()));
    Json document = Json::parse(bytes, nullptr, false);
    if (document.is_discarded()) throw FrameError("it is not valid JSON");
    return document;
}

/// A member that must be there.
inline const Json& member(const Json& object, const char* name) {
    if (object.is_object())
        if (const auto at = object.find(name); at != object.end()) return *at;
    throw FrameError(fmt::format("\"{}\" is missing", name));
}

inline const Json& array_member(const Json& object, const char* name) {
    const Json& array = member(object, name);
    if (!array.is_array()) throw FrameError(fmt::format("\"{}\" is no list", name));
    return array;
}

inline std::string text_or(const Json& object, const char* name, const char* otherwise) {
    if (!object.is_object()) return otherwise;
    const auto at = object.find(name);
    return at != object.end() && at->is_string() ? at->get<std::string>() : otherwise;
}

inline std::uint32_t index_in(const Json& value, std::size_t size) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= size) throw FrameError("a number means nothing that is there");
    return value.get<std::uint32_t>();
}

} // namespace libprofile::tools
