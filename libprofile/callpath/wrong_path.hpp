// The first call path of the process that LIBPROFILE_MARKS=check has found to be wrong: where it leaves the path of a full unwind.
// Contract: frame_at() and note() are thread-safe, async-signal-safe and allocate nothing; only the first note() has an effect. describe()
// runs when the measurement is over.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace libprofile {

class WrongPath {
  public:
    struct Frame {
        std::uint32_t module = 0; // of the load map, as it was then
        std::uint64_t offset = 0; // 0: the path had ended
        std::uintptr_t slot = 0;  // where it was found as a return address, 0 if unknown
    };
    static Frame frame_at(std::uintptr_t address, std::uintptr_t slot) noexcept;

    /// `inner`: how many inner frames are the same. The next one was `found`, and should be `full`.
    void note(bool is_call, std::size_t inner, Frame found, Frame full) noexcept;
    /// For the end of a message; empty if there is no such path.
    void describe(char* text, std::size_t size) const noexcept;

  private:
    static void write(const Frame& frame, char* text, std::size_t size) noexcept;

    enum class State : int { None, BeingWritten, Written };
    std::atomic<State> state_{State::None};
    bool is_call_ = false;
    std::size_t inner_ = 0;
    Frame found_, full_;
};
extern WrongPath first_wrong_path;

} // namespace libprofile
