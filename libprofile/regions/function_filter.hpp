// The instrumented functions that are left out at run time (LIBPROFILE_FILTER; docs/regions.md has the file's grammar).
//
// Contract: excludes() is wait-free and async-signal-safe, and costs a multiplication and a load or two. load() runs once, when the session
// starts. follow_modules() runs in ordinary context, on any thread, with the in-tool flag set: one thread does the work, others return at once.
// Memory is part of the quota and never given back.
#pragma once

#include "libprofile/base/hashing.hpp"
#include "libprofile/base/memory.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

class FunctionFilter {
  public:
    /// Returns true if the function at this address is left out.
    bool excludes(std::uintptr_t function) const noexcept {
        const Table* table = table_.load(std::memory_order_acquire);
        if (table == nullptr) [[likely]]
            return false;
        for (std::uint64_t slot = function * multiplier >> table->shift;; ++slot) {
            const std::uintptr_t found = __atomic_load_n(&table->functions[slot & table->mask], __ATOMIC_RELAXED);
            if (found == function) return true;
            if (found == 0) return false;
        }
    }

    /// Reads the file. Returns what is wrong with it, in one sentence, or nullptr.
    const char* load(const char* path) noexcept;
    /// Handles modules loaded since the last call.
    void follow_modules() noexcept;
    /// Notes that a function of this module is measured.
    void note_measured(std::uint32_t module) noexcept {
        if (has_names_ && module == stripped_.load(std::memory_order_relaxed)) is_stripped_measured_.store(true, std::memory_order_relaxed);
    }
    /// At the end of the measurement: which lines had no effect, in one sentence, or nullptr. In ordinary context, on one thread.
    const char* useless_lines() noexcept;
    std::uint32_t size() const { return size_; }

  private:
    struct Table {
        unsigned shift;
        std::uint64_t mask;
        std::uintptr_t* functions; // open addressing, at most half full; 0 if free
    };
    struct Rule {
        enum Kind { ExcludeName, IncludeName, ExcludeAddress } kind;
        bool fits;            // a function of a loaded module
        std::uint32_t line;   // of the file
        const char* pattern;  // of a name
        unsigned char id[32]; // build-id
        std::uint32_t id_size;
        std::uint64_t offset;
    };
    static constexpr std::uint64_t multiplier = golden;

    bool parse_line(char* line, std::uint32_t number) noexcept;
    void apply(std::uint32_t module) noexcept;
    void apply_names(std::uint32_t module) noexcept;
    bool is_excluded(const char* linkage_name) noexcept;
    void add(std::uintptr_t function) noexcept;
    bool grow() noexcept;

    std::atomic<Table*> table_{nullptr};
    Arena arena_;
    StableArray<Rule, 6> rules_;
    bool has_names_ = false;
    bool has_lines_for_compilers_ = false;
    std::uint32_t size_ = 0;
    std::atomic<std::uint32_t> stripped_{~0u}; // the program itself, if it is stripped of its functions' names
    std::atomic<bool> is_stripped_measured_{false};
    std::atomic<bool> lacks_memory_{false}; // for the names of a module
    std::atomic<std::uint32_t> modules_{0}; // modules handled so far
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    char complaint_[512] = {};
};
extern FunctionFilter function_filter;

} // namespace libprofile
