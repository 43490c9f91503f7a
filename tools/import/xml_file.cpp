#include "tools/import/xml_file.hpp"

#include "tools/frames/frame.hpp"

#include <algorithm>
#include <exception>
#include <expat.h>
#include <fmt/format.h>
#include <memory>
#include <type_traits>

namespace libprofile::tools {

namespace {

constexpr std::size_t deepest = 100'000; // call paths are not that long

/// Expat is C: what an event throws waits here until the parser has returned.
struct State {
    XML_Parser parser;
    const XmlEvents& events;
    std::exception_ptr failure = {};
    std::size_t depth = 0;

    template <class Event> void call(Event event) {
        if (failure) return;
        try {
            event();
        } catch (...) {
            failure = std::current_exception();
            XML_StopParser(parser, XML_FALSE);
        }
    }
};

State& state(void* data) { return *static_cast<State*>(data); }

} // namespace

void read_xml(std::string_view document, const XmlEvents& events) {
    const std::unique_ptr<std::remove_pointer_t<XML_Parser>, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr), XML_ParserFree);
    if (!parser) throw std::bad_alloc();
    State own{parser.get(), events};
    XML_SetUserData(parser.get(), &own);
    XML_SetElementHandler(
        parser.get(),
        [](void* data, const char* name, const char** attributes) {
            state(data).call([&] {
                if (++state(data).depth > deepest) throw FrameError("it is nested too deeply"); // expat keeps more of an open element than its bytes
                state(data).events.begin(name, XmlAttributes(attributes));
            });
        },
        [](void* data, const char* name) {
            --state(data).depth;
            state(data).call([&] { state(data).events.end(name); });
        });
    if (events.text)
        XML_SetCharacterDataHandler(parser.get(), [](void* data, const char* text, int size) {
            state(data).call([&] { state(data).events.text({text, static_cast<std::size_t>(size)}); });
        });
    XML_SetEntityDeclHandler(parser.get(), [](void* data, const char* name, int, const char*, int, const char*, const char*, const char*, const char*) {
        state(data).call([&] { throw FrameError(fmt::format("it defines an entity \"{}\" of its own", name)); });
    });
    constexpr std::size_t part = 1u << 24; // expat counts in ints
    for (std::size_t at = 0; at <= document.size(); at += part) {
        const std::string_view piece = document.substr(at, part);
        if (XML_Parse(parser.get(), piece.data(), static_cast<int>(piece.size()), at + part > document.size()) != XML_STATUS_OK) break;
    }
    if (own.failure) std::rethrow_exception(own.failure);
    if (const XML_Error error = XML_GetErrorCode(parser.get()); error != XML_ERROR_NONE)
        throw FrameError(fmt::format("line {} is no well-formed XML: {}", XML_GetCurrentLineNumber(parser.get()), XML_ErrorString(error)));
}

} // namespace libprofile::tools
