// Which executable or shared library holds an address, as the loader knows it.
// Contract: find_loaded_object() is async-signal-safe, takes no lock and never waits for the loader. It asks _dl_find_object where the C library has
// it (glibc 2.35), elsewhere a copy of the loader's list (loader_copy.hpp), which is made by begin_loaded_objects(). A library that has just been loaded
// is added to the copy by the first question about it, also in a handler; one that was unloaded is no longer found, whoever unloaded it.
#pragma once

#include "libprofile/base/loaded_object.hpp"
#include "libprofile/base/real_calls.hpp"

#include <cstdint>

namespace libprofile {

/// Not in handlers. Later calls do nothing.
void begin_loaded_objects() noexcept;
bool find_loaded_object(std::uintptr_t address, LoadedObject& object) noexcept;
/// libc's dl_iterate_phdr. Not in handlers. Signals wait until the loader's lock is free again: a handler of the program that jumps out would keep it.
void visit_loaded_objects(PhdrCallback visit, void* data) noexcept;
/// The end of the loader's list, where new objects are put. Only during visit_loaded_objects().
LoadedObject last_loaded_object() noexcept;
/// False if it is no longer the end, and where the C library has no _dl_find_object. Async-signal-safe; 20 ns.
bool is_still_last(std::uintptr_t start, const link_map* map) noexcept;
/// The code of the C library's own search, or nullptr.
const void* loaders_own_search() noexcept;

/// Brings the copy up to date. It waits for the loader: not in handlers.
void refresh_loaded_objects() noexcept;
/// All objects known by now were loaded with the program, so nothing can unload them.
void loaded_objects_stay() noexcept;

/// From now on the copy is asked, or whom the C library provides: for tests. LIBPROFILE_TEST_LOADER_COPY=1 does the same for a process.
void ask_copy_of_loader(bool is_wanted) noexcept;

} // namespace libprofile
