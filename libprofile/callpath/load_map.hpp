// The modules (executable and shared libraries) of the process: address -> (module, offset).
// Contract: append-only; find() and iterate() are async-signal-safe, take no lock of the loader and never wait for it:
// the loader is asked through _dl_find_object (glibc >= 2.35, lock-free). refresh() takes the loader's lock and is
// called outside signal handlers only. A module that was unloaded keeps its number; another one at the same address
// gets a new number. All callers run with the in-tool flag set, so the inner spin lock cannot meet itself.
#pragma once

#include "libprofile/session/memory.hpp"
#include "libprofile/session/process_state.hpp"
#include "libprofile/session/real_calls.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

struct Module {
    std::uintptr_t start = 0;
    std::uintptr_t end = 0;
    std::uintptr_t bias = 0; // address = bias + ELF virtual address
    const char* path = "";        // from the root on, also where the program gave dlopen another one
    const char* loader_name = ""; // what the loader calls it
    unsigned char build_id[32] = {};
    std::uint8_t build_id_size = 0;
    bool loaded = false;
    bool binding_layer = false; // Fortran or C++ bindings of an MPI, an OpenMP runtime: not part of the application's call path
    bool is_libc = false;
    bool is_cxx_runtime = false;
    bool copies_stacks = false; // Python's greenlets: return addresses move about
    bool is_libprofile = false;
    bool is_executable = false;
    std::uint64_t hash = 0; // of build-id, else path
    const ElfW(Phdr)* headers = nullptr;
    std::uint16_t header_count = 0;
};

class LoadMap {
  public:
    static constexpr std::uint32_t none = 0xffffffffu;

    /// Number of the module that is mapped at `address` now, or `none`.
    std::uint32_t find(std::uintptr_t address) noexcept;
    const Module& operator[](std::uint32_t module) const { return modules_[module]; }
    std::uint32_t size() const { return count_.load(std::memory_order_acquire); }

    /// Takes in all modules loaded now; drops those gone from iterate(). Not in handlers.
    void refresh() noexcept;
    /// The same if the loader has loaded anything since this was asked before, which takes some 0.1 us. Not in handlers.
    void refresh_if_new() noexcept;
    /// Something was unloaded: what was learned about addresses may be wrong now.
    void invalidate() noexcept { process_state.load_map_epoch.fetch_add(1, std::memory_order_acq_rel); }
    std::uint32_t epoch() const { return process_state.load_map_epoch.load(std::memory_order_acquire); }

    /// A module that copies stacks was seen.
    bool has_stack_copier() const { return copies_stacks_.load(std::memory_order_acquire); }
    /// libstdc++ was seen among the modules.
    bool has_cxx_runtime() const { return cxx_runtime_.load(std::memory_order_acquire); }
    /// How many C++ exceptions are in flight in the calling thread, for as long as it lives; nullptr without libstdc++. Not in
    /// handlers.
    const std::uint32_t* exceptions_in_flight() const noexcept;

    /// dl_iterate_phdr over the known modules, for the unwinder inside a handler.
    int iterate(PhdrCallback callback, void* data) noexcept;

    /// A look-up failed on an address that the loader knows: refresh() at the next safe point is worth it.
    bool is_stale() const { return stale_.load(std::memory_order_relaxed); }
    void mark_stale() noexcept { stale_.store(true, std::memory_order_relaxed); }

  private:
    std::uint32_t add(std::uintptr_t start, std::uintptr_t end, std::uintptr_t bias, const char* path,
                      const ElfW(Phdr)* headers, std::uint16_t header_count) noexcept;
    void find_cxx_globals() noexcept;
    void lock() noexcept;
    void unlock() noexcept { busy_.clear(std::memory_order_release); }

    Arena arena_;
    StableArray<Module, 6> modules_;
    std::atomic<std::uint32_t> count_{0};
    // What find() found, by a hash of the module's start: number of modules then * 2^32 + module. There may be hundreds of modules.
    static constexpr unsigned recent_bits = 8;
    std::atomic<std::uint64_t> recent_[1u << recent_bits] = {};
    std::atomic<unsigned long long> loads_{0}; // that the loader has made, see refresh_if_new()
    std::atomic<bool> stale_{false};
    std::atomic<bool> copies_stacks_{false};
    std::atomic<bool> cxx_runtime_{false};
    std::atomic<void* (*)()> cxx_globals_{nullptr}; // __cxa_get_globals
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};
extern LoadMap load_map;

} // namespace libprofile
