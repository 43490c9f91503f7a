#include "libprofile/callpath/python_frames.hpp"

#include "libprofile/base/hashing.hpp"

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
        look.entry[look.entries++] = {frame, word(layout.frame_code), word(layout.frame_instruction), 0, {}};
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
        const auto* head = reinterpret_cast<const unsigned char*>(entry.code);
        if (!is_plausible(entry.code) || !codes_.find(entry.code, head, entry.instruction, memory_, entry.place)) return false;
        entry.identity = PythonCodes::identity(head);
    }
    return true;
}

/// The same without names.
bool PythonFrames::identify(Look& look, const Activation& activation) noexcept {
    for (std::uint32_t i = activation.first; i < activation.first + activation.count; ++i) {
        if (!is_plausible(look.entry[i].code)) return false;
        look.entry[i].identity = PythonCodes::identity(reinterpret_cast<const unsigned char*>(look.entry[i].code));
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
            const unsigned char* head = heads_ + i * PythonLayout::code_bytes;
            if (!codes_.find(entry.code, head, entry.instruction, memory_, entry.place)) return false;
            entry.identity = PythonCodes::identity(head);
        }
        done += wanted;
    }
    return true;
}

PythonFrames::Change PythonFrames::compare(const Look& before, const Stretch& returned_to) noexcept {
    const Look& after = now();
    const std::uint32_t most = std::min(before.count, after.count);
    for (std::uint32_t i = 0; i < most; ++i) {
        const Activation& old = before.activation[before.count - 1 - i];
        const Activation& fresh = after.activation[after.count - 1 - i];
        if (old.at != fresh.at) return {i, 0, true};
        const auto was = [&](std::uint32_t k) -> const Entry& { return before.entry[old.first + old.count - 1 - k]; };
        const auto is = [&](std::uint32_t k) -> const Entry& { return after.entry[fresh.first + fresh.count - 1 - k]; };
        std::uint32_t standing = 0; // frames that may stand, while those around it still make the same call
        const std::uint32_t common = std::min(old.count, fresh.count);
        while (standing < common && was(standing).is_activation_of(is(standing)) &&
               (standing == 0 || was(standing - 1).instruction == is(standing - 1).instruction))
            ++standing;
        const bool is_same =
            standing == old.count && standing == fresh.count && (standing == 0 || was(standing - 1).instruction == is(standing - 1).instruction);
        if (is_same && (fresh.at < returned_to.from || fresh.at >= returned_to.to)) continue;
        // The innermost of them has gone on. If its code does not lead here, it was called again; so the one around it has gone on.
        while (standing > 1 && !may_go_on(was(standing - 1), is(standing - 1))) --standing;
        return {i, standing, true};
    }
    return {most, 0, before.count != after.count};
}

bool PythonFrames::may_read_directly(std::uintptr_t state) const noexcept {
    return is_first_thread_ && proofs_ >= enough_proofs && state != 0 && !python_process.is_ending();
}

/// Reads the activations from the one at `at` outwards; `name` asks what their frames run.
template <class Name> void PythonFrames::read(Look& look, std::uintptr_t at, std::uintptr_t stack_pointer, std::uintptr_t base, Name name) noexcept {
    const PythonLayout& layout = python_process.layout();
    const auto is_on_stack = [&](std::uintptr_t address) {
        return address % sizeof address == 0 && address >= stack_pointer && address < base && base - address >= layout.outer_native + sizeof address;
    };
    look.is_right = true;
    while (is_on_stack(at) && look.count < most_activations) {
        const std::uintptr_t innermost = stack_word(at + layout.innermost), outer = stack_word(at + layout.outer_native);
        Activation& activation = look.activation[look.count++];
        activation = {at, look.entries, 0};
        std::uintptr_t outer_runs = 0;
        const bool is_outer_on_stack = is_on_stack(outer);
        const bool is_outer_known = is_outer_on_stack                   ? (outer_runs = stack_word(outer + layout.innermost), true)
                                    : is_direct_ && is_plausible(outer) ? (outer_runs = stack_word(outer + layout.innermost), true)
                                                                        : memory_.read(outer + layout.innermost, outer_runs);
        if (!is_outer_known || !read_frames(look, activation, innermost, outer_runs) || !name(activation)) {
            look.entries = activation.first;
            activation.count = 0;
            look.is_right = false;
        }
        if (!is_outer_on_stack || outer <= at) return; // what lies outside of the outermost activation is part of the state
        at = outer;
    }
}

void PythonFrames::look(std::uintptr_t state, std::uintptr_t stack_pointer, std::uintptr_t base, bool is_call) noexcept {
    before_ = current_;
    current_ = spare();
    is_call_ = is_call;
    Look& look = now();
    look.count = look.entries = 0;
    look.is_right = false;
    memory_.forget();
    is_direct_ = is_call && may_read_directly(state);
    const std::uint32_t native_frame = python_process.layout().native_frame;
    std::uintptr_t at = 0;
    if (is_direct_)
        at = stack_word(state + native_frame);
    else if (state == 0 || !memory_.read(state + native_frame, at))
        return;
    read(look, at, stack_pointer, base,
         [&](const Activation& activation) { return is_direct_ ? name_directly(look, activation) : name_safely(look, activation); });
    if (look.is_right && !is_direct_ && look.count != 0 && proofs_ < enough_proofs) ++proofs_;
}

std::uint64_t PythonFrames::look_quickly(std::uintptr_t state, std::uintptr_t stack_pointer, std::uintptr_t base) noexcept {
    if (!may_read_directly(state)) return unknown;
    is_direct_ = true;
    Look& look = looks_[spare()];
    look.count = look.entries = 0;
    read(look, stack_word(state + python_process.layout().native_frame), stack_pointer, base,
         [&](const Activation& activation) { return identify(look, activation); });
    return fingerprint(look);
}

std::uint64_t PythonFrames::fingerprint(const Look& look) noexcept {
    if (!look.is_right) return unknown;
    if (look.count == 0) return 0;
    std::uint64_t hash = 0;
    const auto add = [&](std::uint64_t value) { hash = (hash ^ (hash >> 31) ^ value) * golden; };
    for (std::uint32_t i = 0; i < look.count; ++i) add(look.activation[i].at);
    for (std::uint32_t i = 0; i < look.entries; ++i) add(look.entry[i].instruction + look.entry[i].identity);
    return hash | 2; // neither of the others
}

} // namespace libprofile
