// The Python functions that call paths of this process contain, by the id that is `b` of their nodes.
// Contract: any thread, in handlers too, with the in-tool flag set; append-only. Memory of its own, part of the quota. There are at most `most`
// names; those beyond share one, which says so: a program that makes functions in a loop must not harm the job.
#pragma once

#include "format/regions.hpp"
#include "libprofile/base/memory.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

class PythonNames {
  public:
    static constexpr std::uint32_t most = 16384;
    static constexpr std::size_t most_bytes = 511;

    /// Stores "function\nfile\nfirst line". Returns its id; 0 if other threads are storing names all the time.
    std::uint64_t know(const char* text) noexcept;

    /// Returns the text; nullptr if there is none.
    const char* find(std::uint64_t id) const noexcept;
    /// Returns the file in it; empty if there is no such text.
    Text file(std::uint64_t id) const noexcept;

    struct Name {
        std::uint64_t id;
        const char* text;
    };
    std::uint32_t size() const { return count_.load(std::memory_order_acquire); }
    const Name& operator[](std::size_t i) const { return names_[i]; }

  private:
    static constexpr std::uint32_t slots = 2 * most;
    bool add(std::uint64_t id, const char* text) noexcept;

    std::atomic<std::atomic<std::uint32_t>*> table_{nullptr}; // by id: number + 1
    std::atomic<std::uint32_t> count_{0};
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    Arena arena_;
    StableArray<Name, 6> names_;
};
extern PythonNames python_names;

} // namespace libprofile
