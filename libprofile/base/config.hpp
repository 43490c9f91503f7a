// The effective settings of the process, from the LIBPROFILE_* variables of its environment.
// Contract: load() runs once, when the session starts, before other threads use it. Afterwards constant and thread-safe.
// Copies what it keeps; allocates from the session's arena only.
#pragma once

#include "format/option_table.hpp"
#include "libprofile/base/memory.hpp"

#include <cstdint>

namespace libprofile {

class Config {
  public:
    /// Reads the environment. Invalid values fall back to the default. They and unknown names become sentences in complaint();
    /// nothing is printed here.
    void load(Arena& arena) noexcept;

    std::int64_t number(Option option) const { return numbers_[static_cast<std::size_t>(option)]; }
    const char* text(Option option) const { return texts_[static_cast<std::size_t>(option)]; }
    bool flag(Option option) const { return number(option) != 0; }
    /// What was chosen of the option that has these choices: choice<MethodChoice>().
    template <class Choice> Choice choice() const { return static_cast<Choice>(number(option_of<Choice>)); }

    /// What is wrong with the settings, in one line without a newline. Empty if all is well.
    const char* complaint() const { return complaint_; }
    /// Where `libprofile run` left what hwloc says of the machine (format/machine.hpp); nullptr: nowhere.
    const char* machine_file() const { return machine_file_; }

    /// Writes the settings as lines NAME=value to `buffer`, ending with a zero byte. Returns the length.
    std::size_t describe(char* buffer, std::size_t capacity) const noexcept;

  private:
    bool parse(Option option, const char* value, Arena& arena) noexcept;
    void complain(const char* format, const char* a, const char* b, const char* c) noexcept;
    void check_names(char* const* environment) noexcept;

    std::int64_t numbers_[option_count] = {};
    const char* texts_[option_count] = {};
    char complaint_[1024] = {};
    const char* machine_file_ = nullptr;
};

/// True if `libprofile run` replaced itself by this very process (exec).
bool is_launchers_process() noexcept;

} // namespace libprofile
