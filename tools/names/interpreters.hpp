// Which frames of a call path are those of an interpreter, not of what it runs.
// Contract: const access is thread-safe; allocates when made; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <vector>

namespace libprofile::tools {

/// CPython: everything in its program or library, and its evaluation loop where it is part of another program.
/// Extension modules are not the interpreter: they are where a Python program computes.
class InterpreterFrames {
  public:
    explicit InterpreterFrames(const Profile& profile);
    bool contains(const CallPath& path) const { return is_native_code(path.kind) && of_site_[path.target] != 0; }

  private:
    std::vector<char> of_site_;
};

/// What a run of such frames is called where it is shown as one.
inline constexpr const char* interpreter_label = "(Python interpreter)";

/// "/usr/bin/python3.11", "libpython3.11.so.1.0", ...
bool is_interpreter_module(const std::string& path);

} // namespace libprofile::tools
