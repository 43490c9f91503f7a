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
#include "libprofile/callpath/safe_memory.hpp"

#include <cstddef>
#include <cstdint>

namespace libprofile {

class PythonFrames {
  public:
    struct Entry {
        std::uintptr_t frame = 0, code = 0, instruction = 0;
        PythonCodes::Place place;
        bool is_activation_of(const Entry& other) const { return frame == other.frame && code == other.code && place.function == other.place.function; }
    };
    struct Activation {
        std::uintptr_t at = 0;              // on the stack
        std::uint32_t first = 0, count = 0; // entries, innermost first
    };
    static constexpr std::uint32_t most_activations = 256, most_entries = 1024;

    /// Where the path differs from that of the look before: all activations outside of `outside` (their number, from the outermost) are the same,
    /// and of the next one `entries` frames, from the outermost, have not returned as far as known.
    struct Change {
        std::uint32_t outside = 0, entries = 0;
        bool is_any = false;
    };

    /// For the calling thread.
    void begin() noexcept;
    /// Looks at the thread with this state (PythonProcess::own_state). Its stack lies between `stack_pointer` and `base`. `is_call`: not in a signal
    /// handler, neither ours nor the application's.
    Change look(std::uintptr_t state, std::uintptr_t stack_pointer, std::uintptr_t base, bool is_call) noexcept;

    std::uint32_t size() const { return now().count; }
    /// Outermost first.
    const Activation& operator[](std::uint32_t i) const { return now().activation[now().count - 1 - i]; }
    const Entry& entry(std::uint32_t i) const { return now().entry[i]; }

  private:
    struct Look {
        std::uint32_t count = 0, entries = 0;
        Activation activation[most_activations]; // innermost first
        Entry entry[most_entries];
    };
    Look& now() { return looks_[current_]; }
    const Look& now() const { return looks_[current_]; }
    bool read_frame(std::uintptr_t frame, unsigned char* bytes) noexcept;
    bool read_frames(Look& look, Activation& activation, std::uintptr_t innermost, std::uintptr_t outer_runs) noexcept;
    bool name_directly(Look& look, const Activation& activation) noexcept;
    bool name_safely(Look& look, const Activation& activation) noexcept;
    Change compare(const Look& before, const Look& after) const noexcept;

    unsigned current_ = 0;
    bool is_first_thread_ = false;
    bool is_direct_ = false; // in this look
    unsigned proofs_ = 0;    // safe looks that found a right chain
    Look looks_[2];
    SafeMemory memory_;
    PythonCodes codes_;
    unsigned char heads_[32 * PythonLayout::code_bytes];
};

} // namespace libprofile
