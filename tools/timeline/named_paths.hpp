// Whether the names of functions have a text that somebody looks for. Upper and lower case are alike.
// Contract: one thread at a time: each name is asked for once, and remembered; refers to the profile; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

/// Empty: all have it.
bool has_text(const std::string& name, const std::string& text);

class NamedPaths {
  public:
    /// @param with in the name of the function itself, inside in that of it or of one that called it; empty: all have it
    NamedPaths(const Profile& profile, const std::string& with, const std::string& inside);

    /// Any name has the first text.
    bool has(const std::string& name) const { return has_text(name, with_); }
    /// The function itself.
    bool is_with(std::uint32_t path);
    /// Or one that called it.
    bool is_inside(std::uint32_t path);
    /// As the page has it.
    std::string name_of(std::uint32_t path) const;

  private:
    static constexpr std::uint8_t unknown = 2;
    std::uint32_t there(std::uint32_t path) const { return path < profile_.paths.size() ? path : 0; }
    const Profile& profile_;
    const std::string with_, inside_;               // in lower case
    std::vector<std::uint8_t> is_with_, is_inside_; // by path
};

} // namespace libprofile::tools
