// PAPI, loaded if a chosen counter is known to PAPI only.
// Contract: load(), code_of() and can_count() run when the session starts, on one thread, without the in-tool flag: PAPI then allocates with
// the application's malloc, as in every program that uses it. The thread that counts calls start_set() and stop_set(), not in a signal
// handler. It may call read_set() in its handler (PAPI reads by system calls or instructions and takes no lock).
#pragma once

#include "format/metrics.hpp"

#include <cstddef>
#include <cstdint>

namespace libprofile {

class PapiLibrary {
  public:
    /// Returns false and explains it in `why` if PAPI cannot be used. Later calls give the same answer.
    bool load(char* why, std::size_t size) noexcept;
    /// Returns 0 if PAPI does not know the name.
    int code_of(const char* name) noexcept;
    /// Returns true if the event can be counted together with those for which this was true before; else explains it in `why`.
    bool can_count(int code, char* why, std::size_t size) noexcept;
    /// Forgets the events for which can_count() was true: for a program that only asks.
    void forget() noexcept { count_ = 0; }
    /// The major version in the upper 8 bits, then the minor one. 0 if PAPI is not loaded.
    unsigned version() const { return version_; }
    /// Calls visit(context, name, code) for every preset that PAPI knows, whether it can be counted here or not.
    void for_each_preset(void (*visit)(void*, const char*, int), void* context) noexcept;
    /// Finds the preset with the nearest name. `found` is empty if none is near.
    void nearest_preset(const char* name, char* found, std::size_t size) noexcept;

    /// Begins to count, for the calling thread, the events for which can_count() was true. Returns a negative number on failure.
    int start_set() noexcept;
    /// Values by index in the choice. Returns false if the set can no longer be read.
    bool read_set(int set, std::uint64_t* values) noexcept;
    void stop_set(int set) noexcept;

  private:
    bool find(void* library) noexcept;
    int make_set(const int* codes, std::size_t count) noexcept;
    void drop_set(int set) noexcept;

    bool tried_ = false;
    bool loaded_ = false;
    unsigned version_ = 0;
    char why_[160] = {};
    int codes_[most_counters] = {};
    std::size_t count_ = 0;

    int (*get_opt_)(int, void*) = nullptr;
    int (*library_init_)(int) = nullptr;
    int (*thread_init_)(unsigned long (*)()) = nullptr;
    int (*name_to_code_)(const char*, int*) = nullptr;
    int (*code_to_name_)(int, char*) = nullptr;
    int (*enum_event_)(int*, int) = nullptr;
    int (*create_eventset_)(int*) = nullptr;
    int (*add_event_)(int, int) = nullptr;
    int (*start_)(int) = nullptr;
    int (*stop_)(int, long long*) = nullptr;
    int (*read_)(int, long long*) = nullptr;
    int (*cleanup_eventset_)(int) = nullptr;
    int (*destroy_eventset_)(int*) = nullptr;
    char* (*strerror_)(int) = nullptr;
};
extern PapiLibrary papi_library;

} // namespace libprofile
