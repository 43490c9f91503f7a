#include "instrument/named_regions.hpp"

#include "instrument/region_names.hpp"
#include "instrument/regions.hpp"
#include "instrument/visits_inside.hpp"
#include "libprofile/session/recording.hpp"
#include "libprofile/session/session.hpp"

namespace libprofile {

std::uint64_t begin_region(RegionClass kind, const char* name, std::uintptr_t frame) noexcept {
    if (!session.recording()) return 0;
    const InTool guard;
    if (guard.is_nested()) {
        count_visit_inside();
        return 0;
    }
    Thread* thread = recording_thread();
    if (thread == nullptr) return 0;
    thread->drop_ended_calls(frame);
    Regions* regions = thread->regions != nullptr ? thread->regions : Regions::create(*thread);
    const std::uint64_t id = regions == nullptr ? 0 : region_names.know(kind, name == nullptr ? "" : name);
    if (id != 0)
        regions->begin_named(*thread, static_cast<std::uint32_t>(kind), id, frame);
    else if (regions != nullptr)
        regions->count_nameless();
    return id;
}

namespace {

/// Calls end(thread) if the calling thread has regions.
template <class End> void end_with(End end) noexcept {
    if (!session.measuring()) return;
    const InTool guard;
    if (guard.is_nested()) return;
    Thread* thread = thread_local_block.thread;
    if (thread != nullptr && !thread->finished && thread->regions != nullptr) end(*thread);
}

} // namespace

void end_region(RegionClass kind, std::uint64_t id) noexcept {
    end_with([&](Thread& thread) { thread.regions->end_named(thread, static_cast<std::uint32_t>(kind), id); });
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
    begin_region(RegionClass::User, name, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
}
extern "C" [[gnu::visibility("default")]] void profile_region_end(const char* name) noexcept {
    libprofile::end_region(libprofile::RegionClass::User, name);
}
