// The CPython interpreter of this process, if there is one of a known version (python_layout.hpp).
// Contract: look_for_new() runs in ordinary context; the others in any thread and in handlers. Nothing of Python's API is called, and no lock is
// taken. Without an interpreter, is_known() is all that events ask.
#pragma once

#include "libprofile/callpath/python_layout.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

class PythonProcess {
  public:
    /// LIBPROFILE_PYTHON.
    void switch_on(bool on) noexcept { is_on_ = on; }
    /// Modules may have come: looks whether one of them is the interpreter.
    void look_for_new() noexcept;
    bool is_known() const { return layout_.load(std::memory_order_acquire) != nullptr; }
    const PythonLayout& layout() const { return *layout_.load(std::memory_order_relaxed); }

    /// The state of the calling thread: its own, also while another thread has the interpreter's lock. 0 if Python does not know the thread.
    /// Makes a system call if it is 0 for the key that is known.
    std::uintptr_t own_state() noexcept;
    /// The same as far as is known without a look at the interpreter, which begins and ends when the program wants.
    std::uintptr_t known_state() const noexcept;
    /// Whether a function at `address` is the interpreter's: without one on the stack, no Python function runs there.
    bool contains(std::uintptr_t address) const noexcept { return address - begin_ < end_ - begin_; }

    /// Returns true once the interpreter ends: it frees the states of other threads. For threads that have a state.
    bool is_ending() const noexcept { return runtime_ == 0 || *reinterpret_cast<const std::uintptr_t*>(runtime_ + layout().finalizing) != 0; }

    std::uintptr_t code_type() const { return code_type_; }
    std::uintptr_t text_type() const { return text_type_; }
    std::uintptr_t bytes_type() const { return bytes_type_; }
    /// For tests: objects of fabricated memory have these types.
    void fabricate(const PythonLayout& layout, std::uintptr_t code_type, std::uintptr_t text_type, std::uintptr_t bytes_type) noexcept;
    void forget() noexcept { layout_.store(nullptr, std::memory_order_release); }

  private:
    bool is_on_ = true;
    std::uint32_t looked_at_ = 0; // modules of the load map
    std::atomic<const PythonLayout*> layout_{nullptr};
    std::atomic<std::uint64_t> key_{0};  // as it lies there: _is_initialized in the low half, the key in the high one
    std::uintptr_t begin_ = 0, end_ = 0; // of its module
    std::uintptr_t runtime_ = 0, code_type_ = 0, text_type_ = 0, bytes_type_ = 0;
};
extern PythonProcess python_process;

} // namespace libprofile
