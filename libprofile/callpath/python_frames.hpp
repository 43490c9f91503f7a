// The Python frames of a thread, as they are now: which functions its activations of the interpreter's loop run.
//
// CPython 3.11 runs calls from Python to Python inside one activation of its loop (_PyEval_EvalFrameDefault). Each activation has a structure on
// the thread's stack that leads to the innermost Python frame of it and to the next outer activation. So an activation belongs to the
// native frame in whose part of the stack that structure lies.
//
// Contract: belongs to one thread; async-signal-safe; no lock, no allocation, nothing of Python's API. A sample may come while the interpreter
// changes its chain. The structures are read only between the given stack pointer and the stack's base, and all else through SafeMemory. That
// takes microseconds, too many for each MPI call. A call is no interruption: the frames that have led to it, and their code, exist. So calls
// of the process's first thread read them directly, once looks of the safe kind have found a right chain, and until the interpreter ends.
// An activation counts only if its outermost frame leads to the frame that the next outer activation runs, and if all of its frames have
// code objects. Otherwise it has no entries, and its native frame stands for it. All loops are bounded.
#pragma once

#include "libprofile/callpath/python_codes.hpp"
#include "libprofile/callpath/python_jumps.hpp"
#include "libprofile/callpath/safe_memory.hpp"

#include <cstddef>
#include <cstdint>

namespace libprofile {

class PythonFrames {
  public:
    struct Entry {
        std::uintptr_t frame = 0, code = 0, instruction = 0;
        std::uint64_t identity = 0; // of the code object
        PythonCodes::Place place;
        bool is_activation_of(const Entry& other) const { return frame == other.frame && code == other.code && identity == other.identity; }
    };
    struct Activation {
        std::uintptr_t at = 0;              // on the stack
        std::uint32_t first = 0, count = 0; // entries, innermost first
    };
    static constexpr std::uint32_t most_activations = 256, most_entries = 1024;

    /// Where the path differs from that of the look before: all activations outside of `outside` (their number, from the outermost) are the same,
    /// and of the next one `entries` frames, from the outermost, have not returned. The latter is an upper bound: a frame that is gone and one at its
    /// place that runs the same function are taken for one, if its code may come from the instruction of the look before to that of now.
    struct Change {
        std::uint32_t outside = 0, entries = 0;
        bool is_any = false;
    };

    /// For the calling thread.
    void begin() noexcept;
    /// Looks at the thread with this state (PythonProcess::own_state). Its stack lies between `stack_pointer` and `base`. `is_call`: not in a signal
    /// handler, neither ours nor the application's.
    void look(std::uintptr_t state, std::uintptr_t stack_pointer, std::uintptr_t base, bool is_call) noexcept;
    /// For a call: a number for all frames as they are now, in some 5 ns for each: the same if they are at the same instructions of the same code, in
    /// activations at the same places. 0: there are none. `unknown`: look() is needed. What it saw counts as a look after take(), but has no places.
    std::uint64_t look_quickly(std::uintptr_t state, std::uintptr_t stack_pointer, std::uintptr_t base) noexcept;
    void take() noexcept {
        before_ = current_;
        current_ = spare();
        is_call_ = true;
    }
    static constexpr std::uint64_t unknown = 1;
    /// The same number for what look() has seen.
    std::uint64_t fingerprint() const noexcept { return is_direct_ ? fingerprint(now()) : unknown; }

    /// The part of the stack of the native frame that was returned to since the earlier look; empty if none was, or if unknown.
    struct Stretch {
        std::uintptr_t from = 0, to = 0;
    };
    /// Compares with the look before.
    Change since_look(const Stretch& returned_to) noexcept { return compare(looks_[before_], returned_to); }
    /// Compares this look, that of a call, with that of the call before, once. Samples in between may hit where they show that a function has returned,
    /// which other samples do not. A search that must treat all calls alike knows nothing of them.
    Change since_call(const Stretch& returned_to) noexcept {
        const Change change = compare(looks_[call_], returned_to);
        call_ = current_;
        return change;
    }
    bool is_call() const { return is_call_; }

    std::uint32_t size() const { return now().count; }
    /// Outermost first.
    const Activation& operator[](std::uint32_t i) const { return now().activation[now().count - 1 - i]; }
    const Entry& entry(std::uint32_t i) const { return now().entry[i]; }

  private:
    struct Look {
        std::uint32_t count = 0, entries = 0;
        bool is_right = false;                   // all activations make sense
        Activation activation[most_activations]; // innermost first
        Entry entry[most_entries];
    };
    Change compare(const Look& before, const Stretch& returned_to) noexcept;
    unsigned spare() const {
        unsigned i = 0;
        while (i == current_ || i == call_) ++i;
        return i;
    }
    Look& now() { return looks_[current_]; }
    const Look& now() const { return looks_[current_]; }
    bool may_read_directly(std::uintptr_t state) const noexcept;
    template <class Name> void read(Look& look, std::uintptr_t at, std::uintptr_t stack_pointer, std::uintptr_t base, Name name) noexcept;
    static std::uint64_t fingerprint(const Look& look) noexcept;
    bool identify(Look& look, const Activation& activation) noexcept;
    bool read_frame(std::uintptr_t frame, unsigned char* bytes) noexcept;
    bool read_frames(Look& look, Activation& activation, std::uintptr_t innermost, std::uintptr_t outer_runs) noexcept;
    bool name_directly(Look& look, const Activation& activation) noexcept;
    bool name_safely(Look& look, const Activation& activation) noexcept;
    bool may_go_on(const Entry& was, const Entry& is) noexcept { return jumps_.may_come(is.code, is.identity, was.instruction, is.instruction, memory_); }

    unsigned current_ = 0, before_ = 0, call_ = 0; // looks
    bool is_call_ = false;                         // the last look was one
    bool is_first_thread_ = false;
    bool is_direct_ = false; // in this look
    unsigned proofs_ = 0;    // safe looks that found a right chain
    Look looks_[3];
    SafeMemory memory_;
    PythonCodes codes_;
    PythonJumps jumps_;
    unsigned char heads_[32 * PythonLayout::code_bytes];
};

} // namespace libprofile
