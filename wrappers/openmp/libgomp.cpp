// Interposed: the entry points of GCC's OpenMP runtime in libgomp_entries.def; those of tasks are in libgomp_tasks.cpp.
// Contract: thread-safe, usable before our constructor; while nothing is recorded each is one test and a jump more. Results, and the
// program's own data, are the runtime's.
//
// The names have the runtime's own symbol versions, not as the default ones: the run-time loader gives them to programs that ask for these
// versions, link editors bind no program to them. A program that was linked with another runtime asks for that one's.

#include "libprofile/callpath/arch/machine.hpp"
#include "libprofile/events/openmp_events.hpp"
#include "libprofile/events/openmp_tasks.hpp"
#include "wrappers/openmp/libgomp_runtime.hpp"

#include <cstdint>
#include <new>

namespace libprofile {

using namespace libgomp;

namespace {

constexpr bool is_barrier(OpenMpConstruct construct) { return construct == OpenMpConstruct::Barrier || construct == OpenMpConstruct::ImplicitBarrier; }

/// What the runtime gives to every thread of the team in place of the program's data. GOMP_parallel_reductions looks at the first word.
/// One cache line, which no thread writes while the region runs.
struct alignas(64) Team {
    void* first_word;
    Outlined function;
    void* data;
    ParallelRegion region;
};
static_assert(sizeof(Team) == 64);

/// Room for it on the stack, aligned by hand: where a local variable is aligned to more than the stack is, and arguments lie there, GCC makes a
/// frame with a copy of the return address. Then a wrapper's frame says neither where its caller's begins nor where it returns to.
class TeamRoom {
  public:
    TeamRoom(Outlined function, void* data) noexcept
        : team(*new (align_in(room_, alignof(Team))) Team{data != nullptr ? *static_cast<void**>(data) : nullptr, function, data, {}}) {}
    TeamRoom(const TeamRoom&) = delete;
    TeamRoom& operator=(const TeamRoom&) = delete;

  private:
    alignas(16) char room_[2 * sizeof(Team)];

  public:
    Team& team;
};

/// Runs in place of the outlined function. After end_share() the team may be gone.
void run_share(void* argument) {
    const auto* team = static_cast<const Team*>(argument);
    const ImplicitTask implicit;
    RegionShare share;
    begin_share(share, team->region, __builtin_frame_address(0));
    team->function(team->data);
    share.is_alone = share.is_master && is_alone();
    end_share(share, team->region);
}

struct RegionEnd {
    explicit RegionEnd(ParallelRegion& ended) : region(ended) {}
    ~RegionEnd() { end_region(region); }
    ParallelRegion& region;
};

} // namespace

#define UNWRAP(...) __VA_OPT__(, ) __VA_ARGS__

#define REGION(name, version, result, parameters, arguments)                                                                                                   \
    VERSIONED(name, version)                                                                                                                                   \
    PUBLIC result libprofile_##name parameters {                                                                                                               \
        using Function = result(*) parameters;                                                                                                                 \
        const auto function = reinterpret_cast<Function>(real(Entry_##name));                                                                                  \
        if (!is_measured()) return function(fn, data UNWRAP arguments);                                                                                        \
        TeamRoom room(fn, data);                                                                                                                               \
        Team& team = room.team;                                                                                                                                \
        begin_region(team.region, __builtin_return_address(0), LIBPROFILE_OWN_FRAME, LIBPROFILE_OWN_FRAME);                                                    \
        if (team.region.master == nullptr && team.region.refused_by == 0) return function(fn, data UNWRAP arguments);                                          \
        const RegionEnd at_end(team.region);                                                                                                                   \
        return function(run_share, &team UNWRAP arguments);                                                                                                    \
    }
#define WAIT(name, version, construct, result, parameters, arguments)                                                                                          \
    VERSIONED(name, version)                                                                                                                                   \
    PUBLIC result libprofile_##name parameters {                                                                                                               \
        using Function = result(*) parameters;                                                                                                                 \
        const auto function = reinterpret_cast<Function>(real(Entry_##name));                                                                                  \
        if (!is_measured()) return function arguments;                                                                                                         \
        if (is_barrier(OpenMpConstruct::construct) && is_alone()) {                                                                                            \
            count_event(OpenMpConstruct::construct, __builtin_return_address(0), LIBPROFILE_OWN_FRAME);                                                        \
            return function arguments;                                                                                                                         \
        }                                                                                                                                                      \
        OpenMpEvent event(OpenMpConstruct::construct, __builtin_return_address(0), LIBPROFILE_OWN_FRAME);                                                      \
        return function arguments;                                                                                                                             \
    }
#define LOCK(name, version, construct, test)                                                                                                                   \
    VERSIONED(name, version)                                                                                                                                   \
    PUBLIC void libprofile_##name(void* lock) {                                                                                                                \
        const auto function = reinterpret_cast<void (*)(void*)>(real(Entry_##name));                                                                           \
        if (!is_measured()) return function(lock);                                                                                                             \
        if (reinterpret_cast<int (*)(void*)>(real(Entry_##test))(lock) != 0)                                                                                   \
            return count_event(OpenMpConstruct::construct, __builtin_return_address(0), LIBPROFILE_OWN_FRAME);                                                 \
        OpenMpEvent event(OpenMpConstruct::construct, __builtin_return_address(0), LIBPROFILE_OWN_FRAME);                                                      \
        function(lock);                                                                                                                                        \
    }
#include "wrappers/openmp/libgomp_entries.def"
#undef REGION
#undef WAIT
#undef LOCK

} // namespace libprofile
