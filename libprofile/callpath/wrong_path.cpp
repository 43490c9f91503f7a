#include "libprofile/callpath/wrong_path.hpp"

#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/module_name.hpp"

#include <cstdio>

namespace libprofile {

constinit WrongPath first_wrong_path;

WrongPath::Frame WrongPath::frame_at(std::uintptr_t address, std::uintptr_t slot) noexcept {
    const std::uint32_t module = load_map.find(address);
    return {module, module == LoadMap::none ? address : address - load_map[module].bias, slot};
}

void WrongPath::note(bool is_call, std::size_t inner, Frame found, Frame full) noexcept {
    State none = State::None;
    if (!state_.compare_exchange_strong(none, State::BeingWritten)) return;
    is_call_ = is_call;
    inner_ = inner;
    found_ = found;
    full_ = full;
    state_.store(State::Written, std::memory_order_release);
}

void WrongPath::write(const Frame& frame, char* text, std::size_t size) noexcept {
    const int length = frame.offset == 0
                           ? std::snprintf(text, size, "nothing")
                           : std::snprintf(text, size, "%.120s+0x%llx", frame.module == LoadMap::none ? "" : file_name(load_map[frame.module].path),
                                           static_cast<unsigned long long>(frame.offset));
    if (frame.slot != 0) std::snprintf(text + length, size - static_cast<std::size_t>(length), " at 0x%llx", static_cast<unsigned long long>(frame.slot));
}

void WrongPath::describe(char* text, std::size_t size) const noexcept {
    *text = 0;
    if (state_.load(std::memory_order_acquire) != State::Written) return;
    char found[200], full[200];
    write(found_, found, sizeof found);
    write(full_, full, sizeof full);
    std::snprintf(text, size, "; the first was that of a %s: %zu frames from the inside it had %s instead of %s", is_call_ ? "call" : "sample", inner_, found,
                  full);
}

} // namespace libprofile
