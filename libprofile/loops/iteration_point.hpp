// The iteration points that LIBPROFILE_ITERATION names. Whenever the program passes one, the next iteration begins, as with a marker.
//
// function             every entry: step, ns::Class::step, module::procedure, or a mangled name
// module+0xOFFSET      a function or a call by ELF address, as in reports; works for stripped programs
// path/MPI_Function    every call below the functions of the path: MPI_Allreduce, run/MPI_Allreduce, main/run/MPI_Allreduce
// name=point,point...  several points under another name. A point may be a range, module+0xBEGIN-0xEND: the first call in it. Ranges of
// one line are separated by |; those that make the same call count.
//
// Contract: one per process. choose() comes first, once. look() runs in ordinary context, when modules have come. Any thread may call the rest.
#pragma once

#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/callpath/load_map.hpp"

#include <atomic>
#include <cstdint>

namespace libprofile {

struct Thread;

class IterationPoint {
  public:
    /// `text` must stay valid.
    void choose(const char* text) noexcept;
    /// Looks for the points in the modules that have come since the last time, until all are found.
    void look() noexcept {
        if (is_wanted()) look_now();
    }
    /// Not found yet: libraries that come later may have it.
    bool is_wanted() const { return state_.load(std::memory_order_relaxed) == State::Wanted; }
    /// As look(), but asks the loader for new modules first. Not in handlers.
    void look_for_new() noexcept {
        if (!is_wanted()) return;
        load_map.refresh_if_new();
        look();
    }
    /// Iterations begin at the points. The program's iteration markers are ignored then.
    bool is_on() const { return state_.load(std::memory_order_acquire) == State::On; }
    /// The point is an MPI call.
    bool is_call() const { return is_on() && function_ != no_function; }
    /// The phase of the iterations.
    const char* name() const { return name_; }

    /// Whether the MPI call `node` is the iteration point.
    bool is_at(const CallTree& tree, NodeId node) const noexcept;
    /// The program passes the point. A marker begins the next iteration.
    void passed() noexcept;
    /// The program makes a call that is_at() the point: the next iteration begins at `now`.
    void passed_by_call(Thread& thread, std::uint64_t now) noexcept;

    /// Threads other than the main one have passed it.
    bool was_passed_by_others() const { return by_others_.load(std::memory_order_relaxed); }

    /// Why there are no iterations, as a sentence; empty if all is well. May take long.
    const char* complaint() noexcept;

    /// What complaint() said last, if it still holds.
    const char* last_complaint() const { return is_on() ? "" : complaint_; }

  private:
    enum class State : std::uint8_t { Off, Wanted, Busy, On, Failed };
    static constexpr std::uint32_t no_function = 0xffffffffu;
    static constexpr std::uint32_t most_ranges = 32;
    struct Range {
        std::uintptr_t start, end;
        std::uint32_t step; // of the path
    };

    void look_now() noexcept;
    bool is_found() noexcept;
    [[gnu::format(printf, 2, 3)]] void fail(const char* format, ...) noexcept;
    bool look_for_code(char* points) noexcept;
    bool look_for_calls(char* path) noexcept;
    struct CodePoints {
        static constexpr std::uint32_t most = 16;
        std::uintptr_t address[most];
        const char* name[most];
        std::uint32_t count = 0;
        void add(std::uintptr_t where, const char* what) {
            address[count] = where;
            name[count++] = what;
        }
    };
    bool add_function(const char* name, CodePoints& all) noexcept;
    bool add_point(char* text, CodePoints& all) noexcept;
    bool patch(const CodePoints& all) noexcept;
    void say_missing_function(const char* name) noexcept;
    bool add_range(const char* text) noexcept;

    std::atomic<State> state_{State::Off};
    const char* text_ = "";
    char name_[256] = {};
    char missing_[256] = {}; // not found
    char complaint_[1024] = {};
    std::atomic<bool> by_others_{false};
    std::atomic<std::uint32_t> modules_{0}; // looked at so far
    std::uint32_t function_ = no_function;  // MPI function
    Range ranges_[most_ranges] = {};
    std::uint32_t range_count_ = 0;
    std::uint32_t steps_ = 0; // functions of the path
};
extern IterationPoint iteration_point;

} // namespace libprofile
