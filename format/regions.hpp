// The Regions block of the profile file: the names for the ids of regions and Python functions in call paths, and the losses of regions. One for
// each rank that has any.
// Contract: plain data; no allocation; `describe` runs with an Encoder or a Decoder.
#pragma once

#include "format/codec.hpp"
#include "format/fnv.hpp"

#include <cstdint>

namespace libprofile {

/// The origin of a region: `a` of its nodes. Equal names of two classes are two regions.
enum class RegionClass : std::uint8_t {
    User = 0, // profile_region_begin
    KokkosFor = 1,
    KokkosReduce = 2,
    KokkosScan = 3,
    KokkosRegion = 4, // push_profile_region
    KokkosSection = 5,
    KokkosDeepCopy = 6,
    KokkosFence = 7,
    Python = 8, // no region: a Python function, which nodes of kind Python name. Its name is "function\nfile\nfirst line"
    Count
};
inline constexpr const char* region_class_names[] = {"region",         "parallel_for", "parallel_reduce", "parallel_scan",  "Kokkos region",
                                                     "Kokkos section", "deep_copy",    "fence",           "Python function"};
static_assert(sizeof region_class_names / sizeof *region_class_names == static_cast<std::size_t>(RegionClass::Count));

/// Followed by a RegionNameRecord per name, then without_module and inside, without zeros at the end. Counts are sums over the rank's threads.
struct RegionsRecord {
    std::uint64_t repairs = 0;        // named regions that were never ended, or ended in the wrong order
    std::uint64_t left = 0;           // instrumented functions left without their exit hook: longjmp, exceptions
    std::uint64_t unmatched = 0;      // exits of functions whose entry was not measured
    std::uint64_t too_deep = 0;       // entries beyond the deepest supported nesting
    std::uint64_t without_memory = 0; // entries for which memory was short
    std::uint64_t excluded = 0;       // functions that the filter excludes at run time
    std::uint64_t pair_ps = 0;        // cost of a visit to an instrumented function, in ps; 0 if not measured
    std::uint64_t names = 0;
    std::uint64_t without_module = 0; // entries of functions in no file: code made at run time
    std::uint64_t inside = 0;         // entries, of either sort, while their thread was inside libprofile: in signal handlers that interrupt it
};
template <class Codec> void describe(Codec& c, RegionsRecord& r) {
    c.number(r.repairs);
    c.number(r.left);
    c.number(r.unmatched);
    c.number(r.too_deep);
    c.number(r.without_memory);
    c.number(r.excluded);
    c.number(r.pair_ps);
    c.number(r.names);
}

struct RegionNameRecord {
    std::uint64_t region_class = 0; // RegionClass
    std::uint64_t id = 0;           // `b` of its nodes: region_id() of the name
    Text name;
};
template <class Codec> void describe(Codec& c, RegionNameRecord& r) {
    c.number(r.region_class);
    c.number(r.id);
    c.text(r.name);
}

/// Equal in every process: FNV-1a (64 bit) of the name's bytes, but never 0.
constexpr std::uint64_t region_id(const char* name, std::size_t size) {
    const std::uint64_t h = fnv1a(name, size);
    return h == 0 ? 1 : h;
}

} // namespace libprofile
