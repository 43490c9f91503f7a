// An XML document of somebody else, element by element.
// Contract: thread-safe (no state); allocates; throws FrameError. Entities of the document's own are refused: they may grow without bound.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

namespace libprofile::tools {

/// Name and value of each attribute, valid during the call.
class XmlAttributes {
  public:
    explicit XmlAttributes(const char** list) : list_(list) {}
    /// Empty if it is not there.
    std::string_view operator[](std::string_view name) const {
        for (const char** at = list_; *at != nullptr; at += 2)
            if (name == at[0]) return at[1];
        return {};
    }

  private:
    const char** list_;
};

struct XmlEvents {
    std::function<void(std::string_view element, const XmlAttributes&)> begin;
    std::function<void(std::string_view element)> end;
    std::function<void(std::string_view text)> text = {}; // may come in parts
};

/// @throws FrameError when it is not well-formed, and what the events throw
void read_xml(std::string_view document, const XmlEvents& events);

} // namespace libprofile::tools
