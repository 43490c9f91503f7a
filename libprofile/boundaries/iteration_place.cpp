#include "libprofile/boundaries/iteration_place.hpp"

#include "libprofile/boundaries/code_patch.hpp"
#include "libprofile/boundaries/function_names.hpp"
#include "libprofile/boundaries/other_threads.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/phases/markers.hpp"
#include "libprofile/session/nearest_name.hpp"
#include "libprofile/session/mpi_events.hpp"
#include "libprofile/session/thread.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>

namespace libprofile {

constinit IterationPlace iteration_place;

void IterationPlace::choose(const char* text) noexcept {
    text_ = text;
    const char* equals = std::strchr(text, '=');
    const std::size_t size = equals == nullptr ? std::strlen(text) : static_cast<std::size_t>(equals - text);
    std::snprintf(name_, sizeof name_, "%.*s", static_cast<int>(size < sizeof name_ ? size : sizeof name_ - 1), text);
    state_.store(State::Wanted, std::memory_order_relaxed);
}

void IterationPlace::fail(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(complaint_, sizeof complaint_, format, arguments);
    va_end(arguments);
    state_.store(State::Failed, std::memory_order_relaxed);
}

void IterationPlace::look_now() noexcept {
    if (modules_.load(std::memory_order_relaxed) == load_map.size()) return;
    State expected = State::Wanted;
    if (!state_.compare_exchange_strong(expected, State::Busy, std::memory_order_acq_rel)) return; // another thread looks
    modules_.store(load_map.size(), std::memory_order_relaxed);
    const bool found = is_found();
    expected = State::Busy; // unless it has failed
    state_.compare_exchange_strong(expected, found ? State::On : State::Wanted, std::memory_order_acq_rel);
}

/// False: something is missing, and libraries may come later; or it has failed.
bool IterationPlace::is_found() noexcept {
    const char* equals = std::strchr(text_, '=');
    char places[1024];
    const int n = std::snprintf(places, sizeof places, "%s", equals == nullptr ? text_ : equals + 1);
    if (n < 0 || static_cast<std::size_t>(n) >= sizeof places) return fail("it is too long"), false;
    const char* last = std::strrchr(places, '/');
    const bool is_call = std::strncmp(last == nullptr ? places : last + 1, "MPI_", 4) == 0;
    return is_call ? look_for_calls(places) : look_for_code(places);
}

/// If one of them cannot be, passes of the others mean nothing, either (passed()).
bool IterationPlace::patch(const std::uintptr_t* addresses, std::uint32_t count, const char* what) noexcept {
    if (!do_other_threads_sleep()) return fail("\"%s\" came, or was looked for, when threads ran already", what), false;
    for (std::uint32_t i = 0; i < count; ++i) {
        const PatchProblem problem = patch_code(addresses[i], 0);
        if (problem == PatchProblem::None) continue;
        return fail("passes of \"%s\" cannot be followed: %s", what, words(problem)), false;
    }
    return true;
}

bool IterationPlace::look_for_code(char* places) noexcept {
    constexpr std::uint32_t most = 16;
    std::uintptr_t addresses[most];
    std::uint32_t count = 0;
    std::uintptr_t first_target = 0;
    std::snprintf(missing_, sizeof missing_, "%s", places);
    char* rest = nullptr;
    for (char* place = strtok_r(places, ",", &rest); place != nullptr; place = strtok_r(nullptr, ",", &rest)) {
        if (count == most) return fail("it names too many places"), false;
        std::snprintf(missing_, sizeof missing_, "%s", place);
        char* range = std::strstr(place, "+0x");
        range = range == nullptr ? nullptr : std::strstr(range, "-0x");
        std::uintptr_t size = 0;
        if (range != nullptr) { // the first call in it
            *range = 0;
            const char* offset = std::strstr(place, "+0x");
            size = std::strtoull(range + 1, nullptr, 16) - std::strtoull(offset + 1, nullptr, 16);
        }
        if (const std::uintptr_t address = find_place(place); address != 0) {
            if (range == nullptr) {
                addresses[count++] = address;
                continue;
            }
            std::uintptr_t target = 0;
            const std::uintptr_t call = find_call(address, address + size, target);
            // Copies of a line call the same; other calls of it are no passes.
            if (call == 0 || (first_target != 0 && target != first_target)) continue;
            first_target = target;
            addresses[count++] = call;
            continue;
        }
        NamedFunction function;
        if (!find_function(place, function, nullptr, 0)) return false;
        if (function.is_ambiguous) {
            const Module& module = load_map[function.module];
            const char* slash = std::strrchr(module.path, '/');
            return fail("there are several functions called \"%s\"; name the one that is meant in full, or by its place, such as %s+0x%llx or %s+0x%llx",
                        place, slash == nullptr ? module.path : slash + 1, static_cast<unsigned long long>(function.address[0] - module.bias),
                        slash == nullptr ? module.path : slash + 1, static_cast<unsigned long long>(function.address[1] - module.bias)),
                   false;
        }
        if (function.has_more || count + function.count > most) return fail("passes of \"%s\" cannot be followed: %s", place, words(PatchProblem::TooMany)), false;
        for (std::uint32_t i = 0; i < function.count; ++i) addresses[count++] = function.address[i];
    }
    if (count == 0) return fail("no call in \"%s\" can be followed", name_), false;
    return patch(addresses, count, name_);
}

bool IterationPlace::add_range(const char* text) noexcept {
    const auto add = [this](std::uintptr_t start, std::uintptr_t end) {
        if (range_count_ < most_ranges) ranges_[range_count_++] = {start, end, steps_};
    };
    if (const std::uintptr_t address = find_place(text); address != 0) {
        CodeRange range;
        if (!find_function_code(address, range)) return false;
        add(range.start, range.end);
        return true;
    }
    NamedFunction function;
    if (!find_function(text, function, nullptr, 0)) return false;
    // Which of several is meant is no matter on the way to a call.
    for (std::uint32_t i = 0; i < function.count; ++i) add(function.address[i], function.end[i]);
    return true;
}

bool IterationPlace::look_for_calls(char* path) noexcept {
    std::uint32_t function = no_function;
    range_count_ = steps_ = 0;
    char* rest = nullptr;
    for (char* step = strtok_r(path, "/", &rest); step != nullptr; step = strtok_r(nullptr, "/", &rest)) {
        std::snprintf(missing_, sizeof missing_, "%s", step);
        if (*rest != 0) {
            if (!add_range(step)) return false;
            ++steps_;
            continue;
        }
        for (unsigned id = 0; id < mpi_function_count; ++id)
            if (std::strcmp(mpi_functions[id].name, step) == 0) function = id;
        if (function == no_function) {
            const char* meant = nullptr;
            NearestName nearest(step);
            for (unsigned id = 0; id < mpi_function_count; ++id)
                if (nearest.look_at(mpi_functions[id].name)) meant = mpi_functions[id].name;
            if (meant == nullptr) return fail("no MPI function %s is known", step), false;
            return fail("no MPI function %s is known; did you mean %s?", step, meant), false;
        }
    }
    function_ = function;
    return true;
}

const char* IterationPlace::complaint() noexcept {
    const State state = state_.load(std::memory_order_relaxed);
    if (state == State::Failed) return complaint_;
    if (state != State::Wanted) return "";
    const char* colon = std::strrchr(missing_, ':');
    if (colon != nullptr && colon[1] >= '0' && colon[1] <= '9') {
        std::snprintf(complaint_, sizeof complaint_,
                      "lines of a source are looked up by `libprofile run` (mpirun libprofile run -- ./app); by hand, name the function or module+0xOFFSET");
        return complaint_;
    }
    if (std::strstr(missing_, "+0x") != nullptr) {
        std::snprintf(complaint_, sizeof complaint_, "there is no \"%s\" in the program and the libraries that are loaded", missing_);
        return complaint_;
    }
    char nearest[256] = {};
    for (const char* choice : {"auto", "marker", "none"})
        if (edit_distance(missing_, choice) <= 2 || strcasecmp(missing_, choice) == 0) std::snprintf(nearest, sizeof nearest, "%s", choice);
    NamedFunction function;
    if (*nearest == 0) find_function(missing_, function, nearest, sizeof nearest);
    if (*nearest != 0)
        std::snprintf(complaint_, sizeof complaint_, "there is no function \"%s\" in the program and the libraries that are loaded; did you mean %s?", missing_, nearest);
    else
        std::snprintf(complaint_, sizeof complaint_,
                      "there is no function \"%s\" in the program and the libraries that are loaded (a stripped program has no names: module+0xOFFSET; a function "
                      "may be inlined)",
                      missing_);
    return complaint_;
}

bool IterationPlace::is_at(const CallTree& tree, NodeId node) const noexcept {
    if (tree[node].kind != NodeKind::Mpi || tree[node].a != function_) return false;
    std::uint32_t left = steps_; // functions of the path that are still to be met, from the innermost
    for (NodeId at = tree[node].parent; left != 0 && at != 0; at = tree[at].parent) {
        if (tree[at].kind != NodeKind::Frame) return false;
        const std::uintptr_t address = load_map[tree[at].a].bias + tree[at].b;
        for (std::uint32_t i = 0; i < range_count_; ++i)
            if (ranges_[i].step == left - 1 && address >= ranges_[i].start && address < ranges_[i].end) {
                --left;
                break;
            }
    }
    return left == 0;
}

void IterationPlace::passed(std::uintptr_t frame) noexcept {
    if (is_on()) mark(Marker::Place, name_, frame);
}

void IterationPlace::passed_by_call(Thread& thread, std::uint64_t now) noexcept {
    const std::uint64_t cpu = thread_cpu_time();
    thread.mark_cpu(now, cpu);
    thread.phases.next_iteration(name_, now, cpu);
}

} // namespace libprofile

// What the code near a place calls (stub.S).
extern "C" [[gnu::visibility("hidden")]] void libprofile_boundary_passed(std::uint32_t, std::uintptr_t frame) noexcept {
    libprofile::iteration_place.passed(frame);
}
