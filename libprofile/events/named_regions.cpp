#include "libprofile/events/named_regions.hpp"

#include "libprofile/base/process.hpp"
#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/regions/region_names.hpp"
#include "libprofile/regions/regions.hpp"
#include "libprofile/regions/visits_inside.hpp"
#include "libprofile/session/session.hpp"
#include "libprofile/thread/recording.hpp"

namespace libprofile {

namespace {

/// Begins a region; find_id() says which, with the in-tool flag set. Returns 0 if there was no room for its name.
template <class FindId> std::uint64_t begin(RegionClass kind, std::uintptr_t frame, FindId find_id) noexcept {
    if (!process.recording()) return 0;
    const InTool guard;
    if (guard.is_nested()) {
        count_visit_inside();
        return 0;
    }
    Thread* thread = recording_thread();
    if (thread == nullptr) return 0;
    thread->drop_ended_calls(frame);
    Regions* regions = thread->regions != nullptr ? thread->regions : Regions::create(*thread);
    const std::uint64_t id = regions == nullptr ? 0 : find_id();
    if (id != 0)
        regions->begin_named(*thread, static_cast<std::uint32_t>(kind), id, frame);
    else if (regions != nullptr)
        regions->count_unnamed();
    return id;
}

/// Returns the id of a numbered name; 0 if the class has no such number.
std::uint64_t id_of(RegionClass kind, std::uint32_t number) noexcept {
    if (number >= region_names.size() || region_names[number].kind != static_cast<std::uint32_t>(kind)) return 0;
    return region_names[number].id;
}

/// Calls end(thread) if the calling thread has regions.
template <class End> void end_with(End end) noexcept {
    if (!process.measuring()) return;
    const InTool guard;
    if (guard.is_nested()) return;
    Thread* thread = thread_local_block.thread;
    if (thread != nullptr && !thread->finished && thread->regions != nullptr) end(*thread);
}

} // namespace

std::uint64_t begin_region(RegionClass kind, const char* name, std::uintptr_t frame) noexcept {
    return begin(kind, frame, [&] { return region_names.know(kind, name == nullptr ? "" : name); });
}

void begin_numbered_region(RegionClass kind, std::uint32_t number, std::uintptr_t frame) noexcept {
    begin(kind, frame, [&] { return id_of(kind, number); });
}

std::uint32_t number_of_region(RegionClass kind, const char* name) noexcept {
    const InTool guard;
    if (guard.is_nested()) return RegionNames::none;
    const std::uint64_t id = region_names.know(kind, name == nullptr ? "" : name);
    return id == 0 ? RegionNames::none : region_names.number_of(static_cast<std::uint32_t>(kind), id);
}

void end_region(RegionClass kind, std::uint64_t id) noexcept {
    end_with([&](Thread& thread) { thread.regions->end_named(thread, static_cast<std::uint32_t>(kind), id); });
}

void end_numbered_region(RegionClass kind, std::uint32_t number) noexcept {
    if (const std::uint64_t id = id_of(kind, number)) end_region(kind, id); // others have not begun
}

void end_region(RegionClass kind, const char* name) noexcept { end_region(kind, RegionNames::id_of(name == nullptr ? "" : name)); }

void end_innermost_region(RegionClass kind) noexcept {
    end_with([&](Thread& thread) { thread.regions->end_innermost(thread, static_cast<std::uint32_t>(kind)); });
}

} // namespace libprofile

// By name, for callers without our header: Python's ctypes, other languages' foreign function interfaces.
extern "C" [[gnu::visibility("default")]] void profile_region_begin(const char* name) noexcept {
    using namespace libprofile;
    session.marker_used();
    begin_region(RegionClass::User, name, reinterpret_cast<std::uintptr_t>(LIBPROFILE_OWN_FRAME));
}
extern "C" [[gnu::visibility("default")]] void profile_region_end(const char* name) noexcept { libprofile::end_region(libprofile::RegionClass::User, name); }
