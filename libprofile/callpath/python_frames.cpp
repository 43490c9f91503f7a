#include "libprofile/callpath/python_frames.hpp"

#include <algorithm>
#include <cstring>
#include <sys/syscall.h>
#include <unistd.h>

namespace libprofile {

namespace {

/// Safe looks that must have found a right chain before frames are read directly.
constexpr unsigned enough_proofs = 16;

bool is_plausible(std::uintptr_t object) { return object % sizeof object == 0 && object >= 4096 && object < std::uintptr_t{1} << 47; }

std::uintptr_t stack_word(std::uintptr_t address) { return *reinterpret_cast<const std::uintptr_t*>(address); }

} // namespace

void PythonFrames::begin() noexcept {
    is_first_thread_ = static_cast<pid_t>(syscall(SYS_gettid)) == getpid();
    now().count = 0;
}

bool PythonFrames::read_frame(std::uintptr_t frame, unsigned char* bytes) noexcept {
    if (!is_plausible(frame)) return false;
    if (!is_direct_) return memory_.read(frame, bytes, PythonLayout::frame_bytes);
    std::memcpy(bytes, reinterpret_cast<const void*>(frame), PythonLayout::frame_bytes);
    return true;
}

/// The frames of one activation, up to its outermost, which must lead to the frame that the next outer activation runs.
bool PythonFrames::read_frames(Look& look, Activation& activation, std::uintptr_t innermost, std::uintptr_t outer_runs) noexcept {
    const PythonLayout& layout = python_process.layout();
    activation.first = look.entries;
    for (std::uintptr_t frame = innermost; look.entries < most_entries;) {
        unsigned char bytes[PythonLayout::frame_bytes];
        if (!read_frame(frame, bytes)) break;
        const auto word = [&](std::uint32_t offset) {
            std::uintptr_t value = 0;
            std::memcpy(&value, bytes + offset, sizeof value);
            return value;
        };
        look.entry[look.entries++] = {frame, word(layout.frame_code), word(layout.frame_instruction), {}};
        const std::uintptr_t outer = word(layout.frame_outer);
        if (bytes[layout.frame_is_entry] == 1) {
            activation.count = look.entries - activation.first;
            return outer == outer_runs;
        }
        frame = outer;
    }
    return false;
}

/// Finds functions and lines. Returns false if a frame makes no sense.
bool PythonFrames::name_directly(Look& look, const Activation& activation) noexcept {
    for (std::uint32_t i = activation.first; i < activation.first + activation.count; ++i) {
        Entry& entry = look.entry[i];
        if (!is_plausible(entry.code) || !codes_.find(entry.code, reinterpret_cast<const unsigned char*>(entry.code), entry.instruction, memory_, entry.place))
            return false;
    }
    return true;
}

bool PythonFrames::name_safely(Look& look, const Activation& activation) noexcept {
    constexpr std::uint32_t most = sizeof heads_ / PythonLayout::code_bytes;
    for (std::uint32_t done = 0; done < activation.count;) {
        const std::uint32_t wanted = std::min(most, activation.count - done);
        std::uintptr_t objects[most];
        Entry* entries = look.entry + activation.first + done;
        for (std::uint32_t i = 0; i < wanted; ++i) objects[i] = entries[i].code;
        if (SafeMemory::read_pieces(objects, wanted, heads_, PythonLayout::code_bytes) != wanted) return false;
        for (std::uint32_t i = 0; i < wanted; ++i) {
            Entry& entry = entries[i];
            if (!codes_.find(entry.code, heads_ + i * PythonLayout::code_bytes, entry.instruction, memory_, entry.place)) return false;
        }
        done += wanted;
    }
    return true;
}

PythonFrames::Change PythonFrames::compare(const Look& before, const Look& after) const noexcept {
    Change change;
    const std::uint32_t most = std::min(before.count, after.count);
    for (std::uint32_t i = 0; i < most; ++i) {
        const Activation& old = before.activation[before.count - 1 - i];
        const Activation& fresh = after.activation[after.count - 1 - i];
        change = {i, 0, true};
        if (old.at != fresh.at) return change;
        const std::uint32_t common = std::min(old.count, fresh.count);
        bool is_same = old.count == fresh.count;
        for (std::uint32_t k = 0; k < common; ++k) {
            const Entry& was = before.entry[old.first + old.count - 1 - k];
            const Entry& is = after.entry[fresh.first + fresh.count - 1 - k];
            if (!was.is_activation_of(is)) return change;
            ++change.entries;
            if (was.instruction != is.instruction) { // it stands, but what it called does not
                is_same = false;
                break;
            }
        }
        if (!is_same) return change;
    }
    return {most, 0, before.count != after.count};
}

PythonFrames::Change PythonFrames::look(std::uintptr_t state, std::uintptr_t stack_pointer, std::uintptr_t base, bool is_call) noexcept {
    const Look& before = now();
    Look& after = looks_[1 - current_];
    current_ = 1 - current_;
    after.count = after.entries = 0;
    const PythonLayout& layout = python_process.layout();
    memory_.forget();
    is_direct_ = is_call && is_first_thread_ && proofs_ >= enough_proofs && state != 0 && !python_process.is_ending();
    std::uintptr_t at = 0;
    if (is_direct_)
        at = stack_word(state + layout.native_frame);
    else if (state == 0 || !memory_.read(state + layout.native_frame, at))
        return compare(before, after);
    bool is_right = true;
    const auto is_on_stack = [&](std::uintptr_t address) {
        return address % sizeof address == 0 && address >= stack_pointer && address < base && base - address >= layout.outer_native + sizeof address;
    };
    while (is_on_stack(at) && after.count < most_activations) {
        const std::uintptr_t innermost = stack_word(at + layout.innermost), outer = stack_word(at + layout.outer_native);
        Activation& activation = after.activation[after.count++];
        activation = {at, after.entries, 0};
        std::uintptr_t outer_runs = 0;
        const bool is_outer_on_stack = is_on_stack(outer);
        const bool is_outer_known = is_outer_on_stack                   ? (outer_runs = stack_word(outer + layout.innermost), true)
                                    : is_direct_ && is_plausible(outer) ? (outer_runs = stack_word(outer + layout.innermost), true)
                                                                        : memory_.read(outer + layout.innermost, outer_runs);
        const bool is_read = is_outer_known && read_frames(after, activation, innermost, outer_runs) &&
                             (is_direct_ ? name_directly(after, activation) : name_safely(after, activation));
        if (!is_read) {
            after.entries = activation.first;
            activation.count = 0;
            is_right = false;
        }
        if (!is_outer_on_stack || outer <= at) break; // what lies outside of the outermost activation is part of the state
        at = outer;
    }
    if (is_right && !is_direct_ && after.count != 0 && proofs_ < enough_proofs) ++proofs_;
    return compare(before, after);
}

} // namespace libprofile
