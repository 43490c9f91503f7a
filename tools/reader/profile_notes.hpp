// What is lost of a profile, or does not fit together, while it is put together.
// Contract: not thread-safe. Memory is bounded.
#pragma once

#include "tools/reader/damages.hpp"

#include <string>
#include <utility>
#include <vector>

namespace libprofile::tools {

class ProfileNotes {
  public:
    void note(std::string what) {
        notes_.note([&] { return std::move(what); });
    }
    /// The same of data: the profile is not complete.
    void lose(std::string what) {
        has_losses_ = true;
        note(std::move(what));
    }
    bool has_losses() const { return has_losses_; }
    bool empty() const { return notes_.empty(); }
    std::vector<std::string> told() const { return notes_.told(); }

  private:
    Damages notes_{50};
    bool has_losses_ = false;
};

} // namespace libprofile::tools
