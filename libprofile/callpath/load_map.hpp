// The modules (executable and shared libraries) of the process: address -> (module, offset).
// Contract: find() and iterate() are async-signal-safe and never wait for the loader's lock: they ask find_loaded_object().
// refresh() takes the loader's lock and is called outside signal handlers only. An unloaded module keeps its number and gets
// it again when the same file returns to the same address; another file there gets a new number. All callers run with the in-tool flag
// set, so the inner spin lock cannot meet itself.
// Cost: programs load thousands of libraries. Look-ups by address use a hash; dlclose costs one question to the loader; refresh() looks at
// each loaded module once, and only if the loader has changed something.
#pragma once

#include "libprofile/base/hashing.hpp"
#include "libprofile/base/load_epoch.hpp"
#include "libprofile/base/memory.hpp"
#include "libprofile/base/real_calls.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

struct Module {
    std::uintptr_t start = 0;
    std::uintptr_t end = 0;
    std::uintptr_t bias = 0;      // address = bias + ELF virtual address
    const char* path = "";        // absolute, even if the program gave dlopen a relative one
    const char* loader_name = ""; // the loader's name for it
    unsigned char build_id[32] = {};
    std::uint8_t build_id_size = 0;
    std::atomic<bool> loaded{false}; // as far as known; certain after refresh()
    bool binding_layer = false;      // Fortran or C++ bindings of an MPI, or an OpenMP runtime: not part of the application's call path
    bool is_libc = false;
    bool is_cxx_runtime = false;
    bool copies_stacks = false; // Python's greenlets: return addresses move
    bool is_libprofile = false;
    bool is_executable = false;
    std::uint64_t hash = 0; // of the build-id, else of the path
    const ElfW(Phdr) * headers = nullptr;
    std::uint16_t header_count = 0;
    // For the load map only. Links are numbers + 1. A link out of a list that is read without the lock keeps leading into it.
    std::atomic<std::uint32_t> next_loaded{0}; // in the same bucket of biases
    std::atomic<std::uint32_t> checked{0};     // the epoch in which it was last verified
    std::uint64_t identity = 0;                // of name, build-id and bias
    std::uint32_t next_alike = 0;              // in the same bucket of identities
    std::uint32_t seen = 0;                    // the refresh() that met it last
};

class LoadMap {
  public:
    static constexpr std::uint32_t none = 0xffffffffu;

    /// Returns the number of the module that is mapped at `address` now, or `none`.
    std::uint32_t find(std::uintptr_t address) noexcept;
    const Module& operator[](std::uint32_t module) const { return modules_[module]; }
    std::uint32_t size() const { return count_.load(std::memory_order_acquire); }

    /// Counts modules that were loaded, including those that came back.
    std::uint32_t arrivals() const { return arrivals_.load(std::memory_order_acquire); }

    /// Adds all modules loaded now and drops those gone. Takes about 0.1 us if the loader has done nothing since. Not in handlers.
    void refresh() noexcept;
    /// As refresh(), but only if modules were loaded since, or is_stale(); else 20 ns and no lock. Not in handlers.
    void refresh_if_new() noexcept;
    /// Returns true if modules were unloaded since the last noticed(); pass `unloads` on to that. Not in handlers.
    bool has_unloaded(unsigned long long& unloads) const noexcept;
    /// Call it when learned facts about addresses were invalidated. Later callers that find no new unloads may rely on that.
    void noticed(unsigned long long unloads) noexcept { unloads_.store(unloads, std::memory_order_release); }
    bool is_noticed(unsigned long long unloads) const noexcept { return unloads == unloads_.load(std::memory_order_acquire); }
    /// Something was unloaded: learned facts about addresses may be wrong now. Not in handlers.
    void invalidate() noexcept;
    std::uint32_t epoch() const { return load_epoch(); }

    /// Returns true if a module that copies stacks was seen.
    bool has_stack_copier() const { return copies_stacks_.load(std::memory_order_acquire); }
    /// Returns true if libstdc++ was seen.
    bool has_cxx_runtime() const { return cxx_runtime_.load(std::memory_order_acquire); }
    /// The number of C++ exceptions in flight in the calling thread, readable as long as the thread lives; nullptr without libstdc++. Not
    /// in handlers.
    const std::uint32_t* exceptions_in_flight() const noexcept;

    /// Like dl_iterate_phdr, over the known modules: for the unwinder inside a handler.
    int iterate(PhdrCallback callback, void* data) noexcept;

    /// Modules have come or gone, so the next safe point should call refresh().
    bool is_stale() const { return stale_.load(std::memory_order_relaxed); }
    void mark_stale() noexcept { stale_.store(true, std::memory_order_relaxed); }

    /// The number of modules compared so far, as the cost of the map: for tests.
    std::uint64_t comparisons() const { return comparisons_.load(std::memory_order_relaxed); }

  private:
    struct Found; // a module as the loader describes it
    std::uint32_t take_in(const Found& found) noexcept;
    std::uint32_t append(const Found& found, std::uint64_t identity) noexcept;
    std::uint32_t known_at(std::uintptr_t bias, std::uintptr_t address) const noexcept;
    bool is_current(const Module& module, const Found& found) const noexcept;
    void link(std::uint32_t number) noexcept;
    void unlink(std::uint32_t number) noexcept;
    void drop_unseen(std::uint32_t refresh) noexcept;
    void find_cxx_globals() noexcept;
    void lock() noexcept;
    void unlock() noexcept { busy_.clear(std::memory_order_release); }

    static constexpr unsigned bucket_bits = 10;
    static std::uint64_t bucket(std::uint64_t key) { return short_hash(key, bucket_bits); }

    Arena arena_;
    StableArray<Module, 6> modules_;
    std::atomic<std::uint32_t> count_{0};
    std::atomic<std::uint32_t> arrivals_{0};
    // The last object of the loader's list at the last refresh().
    std::atomic<std::uintptr_t> last_start_{0};
    std::atomic<const link_map*> last_{nullptr};
    std::atomic<std::uint32_t> loaded_[1u << bucket_bits] = {}; // by bias, of modules not known to be gone: number + 1, newest first
    std::uint32_t alike_[1u << bucket_bits] = {};               // by identity, of all
    // What find() found, by a hash of the module's start: (arrivals + epoch) * 2^32 + module.
    static constexpr unsigned recent_bits = 8;
    std::atomic<std::uint64_t> recent_[1u << recent_bits] = {};
    std::atomic<unsigned long long> loads_{0}, removals_{0}; // the loader's counts at the last refresh()
    std::atomic<unsigned long long> unloads_{0};             // see noticed()
    std::atomic<std::uint32_t> refreshes_{0};
    mutable std::atomic<std::uint64_t> comparisons_{0};
    std::atomic<bool> stale_{false};
    std::atomic<bool> copies_stacks_{false};
    std::atomic<bool> cxx_runtime_{false};
    std::atomic<void* (*)()> cxx_globals_{nullptr}; // __cxa_get_globals
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};
extern LoadMap load_map;

} // namespace libprofile
