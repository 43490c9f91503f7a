// Where functions begin, from the unwind information that a stripped program keeps (.eh_frame_hdr; Linux Standard Base, "Exception
// Frames").
// Contract: const access is thread-safe; allocates in proportion to the number of functions; broken files give no answers; throws
// std::bad_alloc only.
#pragma once

#include <cstdint>
#include <libelf.h>
#include <optional>
#include <utility>
#include <vector>

namespace libprofile::tools {

class FrameStarts {
  public:
    explicit FrameStarts(Elf* elf);
    /// The begin of the function that an ELF virtual address lies in.
    std::optional<std::uint64_t> of(std::uint64_t address) const;

  private:
    std::vector<std::pair<std::uint64_t, std::uint64_t>> functions_; // begin and end, sorted
};

} // namespace libprofile::tools
