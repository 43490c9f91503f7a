#include "libprofile/loops/iteration_point.hpp"

#include "libprofile/base/function_records.hpp"
#include "libprofile/base/nearest_name.hpp"
#include "libprofile/base/process.hpp"
#include "libprofile/callpath/dynamic_symbols.hpp"
#include "libprofile/callpath/function_symbols.hpp"
#include "libprofile/callpath/load_map.hpp"
#include "libprofile/callpath/module_name.hpp"
#include "libprofile/code/function_names.hpp"
#include "libprofile/code/patch.hpp"
#include "libprofile/code/stopped_threads.hpp"
#include "libprofile/thread/thread.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <strings.h>

namespace libprofile {

constinit IterationPoint iteration_point;

namespace {

/// Writes what distinguishes functions of one name: their symbols or addresses.
void say_which(const NamedFunction& function, char* text, std::size_t size) {
    if (std::strcmp(function.symbol, function.other_symbol) != 0) {
        std::snprintf(text, size, "%s or %s", function.symbol, function.other_symbol);
        return;
    }
    const Module& module = load_map[function.module];
    const char* name = file_name(module.path);
    std::snprintf(text, size, "%s+0x%llx or %s+0x%llx", name, static_cast<unsigned long long>(function.address[0] - module.bias), name,
                  static_cast<unsigned long long>(function.other - module.bias));
}

} // namespace

void IterationPoint::choose(const char* text) noexcept {
    if (*text == '=') ++text; // without a name, the iterations are named after the point
    text_ = text;
    const char* equals = std::strchr(text, '=');
    const std::size_t size = equals == nullptr ? std::strlen(text) : static_cast<std::size_t>(equals - text);
    std::snprintf(name_, sizeof name_, "%.*s", static_cast<int>(size < sizeof name_ ? size : sizeof name_ - 1), text);
    state_.store(State::Wanted, std::memory_order_relaxed);
}

void IterationPoint::fail(const char* format, ...) noexcept {
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(complaint_, sizeof complaint_, format, arguments);
    va_end(arguments);
    state_.store(State::Failed, std::memory_order_relaxed);
}

void IterationPoint::look_now() noexcept {
    if (modules_.load(std::memory_order_relaxed) == load_map.arrivals()) return;
    State expected = State::Wanted;
    if (!state_.compare_exchange_strong(expected, State::Busy, std::memory_order_acq_rel)) return; // another thread is looking
    modules_.store(load_map.arrivals(), std::memory_order_relaxed);
    const bool found = is_found();
    expected = State::Busy; // unless it has failed
    state_.compare_exchange_strong(expected, found ? State::On : State::Wanted, std::memory_order_acq_rel);
}

/// Returns false if something is missing that a library may bring later, or if the search has failed.
bool IterationPoint::is_found() noexcept {
    const char* equals = std::strchr(text_, '=');
    char points[4096];
    const int n = std::snprintf(points, sizeof points, "%s", equals == nullptr ? text_ : equals + 1);
    if (n < 0 || static_cast<std::size_t>(n) >= sizeof points) return fail("it is too long"), false;
    const char* last = std::strrchr(points, '/');
    const bool is_call = std::strncmp(last == nullptr ? points : last + 1, "MPI_", 4) == 0;
    return is_call ? look_for_calls(points) : look_for_code(points);
}

namespace {

/// Cuts the next item out of a list and trims blanks. Separators in brackets do not count: step(int, int) is one item.
/// Returns nullptr at the end.
char* next_of(char*& rest, char separator) {
    while (*rest == separator || *rest == ' ') ++rest;
    if (*rest == 0) return nullptr;
    char* const begin = rest;
    int depth = 0;
    for (; *rest != 0 && (*rest != separator || depth > 0); ++rest) {
        if (*rest == '(' || *rest == '<') ++depth;
        if ((*rest == ')' || *rest == '>') && depth > 0) --depth;
    }
    char* end = rest;
    if (*rest != 0) *rest++ = 0;
    while (end != begin && (*end == 0 || *end == ' ')) *end-- = 0;
    return begin;
}

/// Reads the first address and the size of "app+0x10-0x20", and cuts off the second address. Returns false if it is no range.
bool cut_range(char* text, std::uintptr_t& size) {
    const char* offset = std::strstr(text, "+0x");
    char* end = offset == nullptr ? nullptr : std::strstr(text + (offset - text), "-0x");
    if (end == nullptr) return false;
    *end = 0;
    size = std::strtoull(end + 1, nullptr, 16) - std::strtoull(offset + 1, nullptr, 16);
    return true;
}

} // namespace

/// One point that cannot be followed makes the passes of the others meaningless (passed()).
bool IterationPoint::patch(const CodePoints& all) noexcept {
    if (!do_other_threads_sleep()) return fail("other threads ran when \"%s\" was looked for; code can be changed only while they sleep", name_), false;
    for (std::uint32_t i = 0; i < all.count; ++i) {
        const PatchProblem problem = patch_code(all.address[i], 0);
        if (problem == PatchProblem::None) continue;
        return fail("passes of \"%s\" cannot be followed: %s", all.name[i], words(problem)), false;
    }
    return true;
}

/// Returns false if the function is missing or cannot be followed.
bool IterationPoint::add_function(const char* name, CodePoints& all) noexcept {
    NamedFunction function;
    if (!find_function(name, function, nullptr, 0)) return false;
    if (function.is_ambiguous) {
        char which[600];
        say_which(function, which, sizeof which);
        return fail("there are several functions called \"%s\"; name the one you mean: %s", name, which), false;
    }
    if (function.has_more || all.count + function.count > CodePoints::most)
        return fail("passes of \"%s\" cannot be followed: %s", name, words(PatchProblem::TooMany)), false;
    for (std::uint32_t i = 0; i < function.count; ++i) all.add(function.address[i], name);
    return true;
}

/// `text`: an address, or ranges of one line with '|' between them; the first call of each counts.
bool IterationPoint::add_point(char* text, CodePoints& all) noexcept {
    std::uintptr_t first_target = 0;
    bool is_one = false;
    char* rest = text;
    while (char* part = next_of(rest, '|')) {
        std::uintptr_t size = 0;
        const bool is_range = cut_range(part, size);
        std::snprintf(missing_, sizeof missing_, "%s", part);
        const std::uintptr_t address = find_address(part);
        if (address == 0) return !is_range && add_function(part, all);
        std::uintptr_t target = 0;
        const std::uintptr_t call = is_range ? find_call(address, address + size, target) : address;
        // Copies of a line make the same call. Other calls on the line begin no pass.
        if (call == 0 || (first_target != 0 && target != first_target)) continue;
        if (all.count == CodePoints::most) return fail("it names too many points"), false;
        first_target = target;
        is_one = true;
        all.add(call, part);
    }
    if (!is_one) return fail("no call in \"%s\" can be followed", text), false;
    return true;
}

bool IterationPoint::look_for_code(char* points) noexcept {
    CodePoints all;
    std::snprintf(missing_, sizeof missing_, "%s", points);
    while (char* point = next_of(points, ','))
        if (!add_point(point, all)) return false;
    if (all.count == 0) return fail("it names no point"), false;
    return patch(all);
}

bool IterationPoint::add_range(const char* text) noexcept {
    const auto add = [this](std::uintptr_t start, std::uintptr_t end) {
        if (range_count_ < most_ranges) ranges_[range_count_++] = {start, end, steps_};
    };
    if (const std::uintptr_t address = find_address(text); address != 0) {
        CodeRange range;
        if (!find_function_code(address, range)) return false;
        add(range.start, range.end);
        return true;
    }
    NamedFunction function;
    if (!find_function(text, function, nullptr, 0)) return false;
    // On the way to a call all functions of that name may count.
    for (std::uint32_t i = 0; i < function.count; ++i) add(function.address[i], function.end[i]);
    return true;
}

bool IterationPoint::look_for_calls(char* path) noexcept {
    std::uint32_t function = no_function;
    range_count_ = steps_ = 0;
    if (std::strchr(path, '/') != nullptr && !process.records_call_paths())
        return fail("without call paths (LIBPROFILE_CALLPATHS=0) a point can only be an MPI function, without functions above it"), false;
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

namespace {

/// Returns where parameters or template arguments begin, nullptr if there are none.
const char* arguments_of(const char* name) {
    const char* at = std::strpbrk(name, "(<");
    return at == name ? nullptr : at; // (anonymous namespace)::step
}

/// Whether the program's file has no symbol table of its functions.
bool is_stripped() {
    for (std::uint32_t m = 0; m < load_map.size(); ++m)
        if (load_map[m].is_executable) return !FunctionSymbols(load_map[m]).has_all();
    return false;
}

bool is_in_libc(const char* name) {
    for (std::uint32_t m = 0; m < load_map.size(); ++m) {
        const Module& module = load_map[m];
        if (!module.loaded || !module.is_libc || module.headers == nullptr) continue;
        if (find_dynamic_symbol(module.bias, module.headers, module.header_count, name) != 0) return true;
    }
    return false;
}

} // namespace

/// Writes into complaint_ why there is no function of that name, and which one may be meant.
void IterationPoint::say_missing_function(const char* name) noexcept {
    constexpr std::size_t room = sizeof complaint_;
    // The C library has a step(), too: the user may mean another function.
    const char* const but = is_in_libc(name) ? ", but in the C library, whose functions cannot be followed" : "";
    const int used = std::snprintf(complaint_, room, "there is no function \"%s\" in the program and the libraries that are loaded%s", name, but);
    if (used < 0 || static_cast<std::size_t>(used) >= room) return;
    char* const rest = complaint_ + used;
    const std::size_t left = room - static_cast<std::size_t>(used);
    NamedFunction function;
    char base[256];
    if (const char* arguments = arguments_of(name)) {
        std::snprintf(base, sizeof base, "%.*s", static_cast<int>(arguments - name), name);
        if (find_function(base, function, nullptr, 0)) {
            char which[400] = {};
            if (function.is_ambiguous) say_which(function, which, sizeof which);
            std::snprintf(rest, left, "; names are without parameters and template arguments: %s", function.is_ambiguous ? which : base);
            return;
        }
    }
    char nearest[256] = {};
    for (const char* choice : {"auto", "marker", "none"})
        if (edit_distance(name, choice) <= 2 || strcasecmp(name, choice) == 0) std::snprintf(nearest, sizeof nearest, "%s", choice);
    if (*nearest == 0) find_function(name, function, nearest, sizeof nearest);
    const char* const hint = function.lacks_memory ? "there was no memory for some names; raise LIBPROFILE_MEMORY"
                             : is_stripped()       ? "the program is stripped of its names: give an offset, app+0xOFFSET"
                                                   : "the compiler may have inlined the function";
    if (*nearest != 0)
        std::snprintf(rest, left, "; did you mean %s? (%s)", nearest, hint);
    else
        std::snprintf(rest, left, " (%s)", hint);
}

const char* IterationPoint::complaint() noexcept {
    const State state = state_.load(std::memory_order_relaxed);
    if (state == State::Failed) return complaint_;
    if (state != State::Wanted) return "";
    const char* colon = std::strrchr(missing_, ':');
    if (colon != nullptr && colon != missing_ && colon[-1] != ':' && colon[1] >= '0' && colon[1] <= '9') {
        char function[256];
        std::snprintf(function, sizeof function, "%.*s", static_cast<int>(colon - missing_), missing_);
        NamedFunction found;
        if (find_function(function, found, nullptr, 0))
            fail("only `libprofile run` looks up source lines (mpirun libprofile run -- ./app); without it, name the function or module+0xOFFSET");
        else if (std::strchr(function, '.') != nullptr)
            fail("name a line by its function, not by the file, as in step%s, with `libprofile run`", colon);
        else
            say_missing_function(function);
        return complaint_;
    }
    if (std::strstr(missing_, "+0x") != nullptr) {
        std::snprintf(complaint_, sizeof complaint_, "there is no \"%s\" in the program and the libraries that are loaded", missing_);
        return complaint_;
    }
    say_missing_function(missing_);
    return complaint_;
}

bool IterationPoint::is_at(const CallTree& tree, NodeId node) const noexcept {
    if (!is_call() || tree[node].kind != NodeKind::Mpi || tree[node].a != function_) return false;
    std::uint32_t left = steps_; // functions of the path that are still to be met, from the innermost
    for (NodeId at = tree[node].parent; left != 0 && at != 0; at = tree[at].parent) {
        if (tree[at].kind == NodeKind::Python) continue;
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

void IterationPoint::passed() noexcept {
    if (const Thread* thread = thread_local_block.thread; thread != nullptr && thread->index != 0 && !by_others_.load(std::memory_order_relaxed))
        by_others_.store(true, std::memory_order_relaxed);
}

void IterationPoint::passed_by_call(Thread& thread, std::uint64_t now) noexcept {
    const std::uint64_t cpu = thread_cpu_time();
    thread.mark_cpu(now, cpu);
    thread.phases.next_iteration(name_, now, cpu);
}

} // namespace libprofile
