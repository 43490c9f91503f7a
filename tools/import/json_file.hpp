// A JSON document of somebody else, and its parts with errors in words.
// Contract: thread-safe (no state); allocates; throws FrameError.
#pragma once

#include "tools/import/file_bytes.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

using Json = nlohmann::json;

inline Json json_file(const std::filesystem::path& place) {
    Json document = Json::parse(file_bytes(place), nullptr, false);
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
