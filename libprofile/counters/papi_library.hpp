// PAPI, loaded when counters are chosen that only it knows.
// Contract: load(), code_of(), can_count() run when the session starts, by one thread, outside libprofile's in-tool flag: PAPI allocates
// with the application's malloc there, as it does in every program that uses it. start_set() and stop_set() are called by the thread that
// counts, not in a signal handler; read_set(), too, in its handler if need be (PAPI reads by system calls or by instructions, under no lock).
#pragma once

#include "format/metrics.hpp"

#include <cstddef>
#include <cstdint>

namespace libprofile {

class PapiLibrary {
  public:
    /// False: `why` says it. Later calls give the same answer.
    bool load(char* why, std::size_t size) noexcept;
    /// 0: PAPI does not know the name.
    int code_of(const char* name) noexcept;
    /// Whether the event can be counted besides those for which this was true before. False: `why` says it.
    bool can_count(int code, char* why, std::size_t size) noexcept;
    /// Forgets for which events can_count() was true: for a program that only wants to know.
    void forget() noexcept { count_ = 0; }
    /// 0: not loaded. Major version in the upper 8 bits, then minor.
    unsigned version() const { return version_; }
    /// Calls visit(context, name, code) for every preset that PAPI knows, counted here or not.
    void for_each_preset(void (*visit)(void*, const char*, int), void* context) noexcept;
    /// The preset whose name is nearest, if one is near; else `found` is empty.
    void nearest_preset(const char* name, char* found, std::size_t size) noexcept;

    /// Begins to count those for which can_count() was true, for the calling thread. < 0: it cannot.
    int start_set() noexcept;
    /// By place in the choice. False: it cannot be read any more.
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
