// Named regions, from whatever interface they come: include/libprofile.h and Kokkos Tools.
// Contract: any thread; in a signal handler that has interrupted libprofile they are counted as lost (visits_inside.hpp); never fail. What
// does not pair is repaired and counted (RegionsRecord). While recording is off, regions that begin are none; those that are open may end.
#pragma once

#include "format/regions.hpp"

#include <cstdint>

namespace libprofile {

/// `frame`: of the entry point that the application called. Returns the id of the name; 0 if nothing has begun.
std::uint64_t begin_region(RegionClass kind, const char* name, std::uintptr_t frame) noexcept;
void end_region(RegionClass kind, const char* name) noexcept;
void end_region(RegionClass kind, std::uint64_t id) noexcept;
/// Ends the region of that class that began last.
void end_innermost_region(RegionClass kind) noexcept;

/// For interfaces that number names before a region begins. The same name of a class has the same number. A name for which there is no
/// room gets a number whose visits all count as lost.
std::uint32_t number_of_region(RegionClass kind, const char* name) noexcept;
void begin_numbered_region(RegionClass kind, std::uint32_t number, std::uintptr_t frame) noexcept;
void end_numbered_region(RegionClass kind, std::uint32_t number) noexcept;

} // namespace libprofile
