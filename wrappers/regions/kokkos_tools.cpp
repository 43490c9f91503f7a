// The interface of Kokkos Tools: with KOKKOS_TOOLS_LIBS=.../libprofile.so, or the older KOKKOS_PROFILE_LIBRARY, a Kokkos program
// looks these functions up by name and calls them around what it does. Each kernel is a region of the class of its operation.
// Source: Kokkos, core/src/impl/Kokkos_Profiling_Interface.hpp and Kokkos_Profiling_C_Interface.h (interface version 20150628 and
// later: functions that are not there are not called).
//
// Contract: called by Kokkos on the threads that launch kernels. Kernel numbers are the ids of their names, so that an end needs no
// table. A section's number is that of its name: a program may make it anew in each step, and two of one name are one region.
// Nothing is said, nothing is written: both belong to the session.
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/events/named_regions.hpp"
#include "libprofile/session/session.hpp"

#include <cstdint>
#include <cstring>

using libprofile::RegionClass;

#define KOKKOS_TOOL extern "C" [[gnu::visibility("default")]]
#define OWN_FRAME reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME)

KOKKOS_TOOL void kokkosp_init_library(int, std::uint64_t, std::uint32_t, void*) noexcept { libprofile::session.marker_used(); }
KOKKOS_TOOL void kokkosp_finalize_library() noexcept {}

#define KERNEL(operation, kind)                                                                                                                                \
    KOKKOS_TOOL void kokkosp_begin_##operation(const char* name, std::uint32_t, std::uint64_t* kernel) noexcept {                                              \
        const std::uint64_t id = libprofile::begin_region(kind, name, OWN_FRAME);                                                                              \
        if (kernel != nullptr) *kernel = id;                                                                                                                   \
    }                                                                                                                                                          \
    KOKKOS_TOOL void kokkosp_end_##operation(std::uint64_t kernel) noexcept {                                                                                  \
        if (kernel != 0) libprofile::end_region(kind, kernel);                                                                                                 \
    }
KERNEL(parallel_for, RegionClass::KokkosFor)
KERNEL(parallel_reduce, RegionClass::KokkosReduce)
KERNEL(parallel_scan, RegionClass::KokkosScan)
KERNEL(fence, RegionClass::KokkosFence)

KOKKOS_TOOL void kokkosp_push_profile_region(const char* name) noexcept { libprofile::begin_region(RegionClass::KokkosRegion, name, OWN_FRAME); }
KOKKOS_TOOL void kokkosp_pop_profile_region() noexcept { libprofile::end_innermost_region(RegionClass::KokkosRegion); }

KOKKOS_TOOL void kokkosp_create_profile_section(const char* name, std::uint32_t* section) noexcept {
    if (section != nullptr) *section = libprofile::number_of_region(RegionClass::KokkosSection, name);
}
KOKKOS_TOOL void kokkosp_start_profile_section(std::uint32_t section) noexcept {
    libprofile::begin_numbered_region(RegionClass::KokkosSection, section, OWN_FRAME);
}
KOKKOS_TOOL void kokkosp_stop_profile_section(std::uint32_t section) noexcept { libprofile::end_numbered_region(RegionClass::KokkosSection, section); }
KOKKOS_TOOL void kokkosp_destroy_profile_section(std::uint32_t) noexcept {}

/// As Kokkos passes it, by value.
struct SpaceHandle {
    char name[64];
};
/// Copies in each direction are regions of their own: "Host to Cuda".
KOKKOS_TOOL void kokkosp_begin_deep_copy(SpaceHandle to, const char*, const void*, SpaceHandle from, const char*, const void*, std::uint64_t) noexcept {
    char name[160];
    const std::size_t from_size = strnlen(from.name, sizeof from.name), to_size = strnlen(to.name, sizeof to.name);
    std::memcpy(name, from.name, from_size);
    std::memcpy(name + from_size, " to ", 4);
    std::memcpy(name + from_size + 4, to.name, to_size);
    name[from_size + 4 + to_size] = 0;
    libprofile::begin_region(RegionClass::KokkosDeepCopy, name, OWN_FRAME);
}
KOKKOS_TOOL void kokkosp_end_deep_copy() noexcept { libprofile::end_innermost_region(RegionClass::KokkosDeepCopy); }
