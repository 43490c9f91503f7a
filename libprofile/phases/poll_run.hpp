// Unsuccessful tests and probes that follow each other from one call site: their time is found together.
// Contract: plain data of one thread's phase stack, used with the in-tool flag set, but for `next` (events/poll_call.hpp).
//
// Why: a program that polls asks millions of times a second, and reading the clock twice costs more than such a call. Calls at
// random distances are timed: every 11th on average at the beginning of a run, every 127th in a long one. The others that find
// nothing are assumed to last as long on average, and the one that finds something as long as those that did, together not longer
// than the run. Where finding takes much longer than not (a large message is copied), the first calls of each run are all timed:
// most runs are short then.
// Each call is counted; Metric::TimedTogether says how many have a time that was found like this.
#pragma once

#include "libprofile/base/unseen_cost.hpp"
#include "libprofile/callpath/path_tracker.hpp"
#include "libprofile/metrics/accumulator.hpp"

#include <algorithm>
#include <cstdint>

namespace libprofile {

/// How long the polls of one call site took that were timed.
struct PollStatistics {
    std::uint64_t found_ns = 0;
    std::uint64_t missed_ns = 0;
    std::uint32_t found = 0;
    std::uint32_t missed = 0;

    void add(bool has_found, std::uint64_t ns) {
        (has_found ? found_ns : missed_ns) += ns;
        if (++(has_found ? found : missed) < most) return;
        (has_found ? found_ns : missed_ns) /= 2; // what is long ago counts less
        (has_found ? found : missed) /= 2;
    }
    std::uint64_t mean_missed() const { return missed == 0 ? 0 : missed_ns / missed; }
    std::uint64_t mean_found() const { return found == 0 ? mean_missed() : found_ns / found; }
    /// Enough were timed to know that a poll that finds something takes hardly longer than one that does not.
    bool finds_cheaply() const { return found >= 16 && mean_found() <= 2 * mean_missed() + 200; }

    static constexpr std::uint32_t most = 1u << 12;
};

/// What the next call is compared with, to see that it is one more of the run: the same call from the same activation of its caller, which the mark
/// proves as it stands unchanged. One cache line (thread/thread.hpp).
struct ExpectedPoll {
    std::uintptr_t frame = 0; // of the wrapper body; 0 if no call is expected
    std::uintptr_t mark_slot = 0;
    std::uint64_t state = 0; // ProcessState::session_and_epoch()
    std::uint32_t mark_version = 0;
    std::uint32_t left = 0; // so many next calls need not be timed: they are only counted (MpiEvent::repeats_poll())
    const void* return_address = nullptr;
    std::uint32_t slot = 0; // where a word of the stack between the call and the mark lies, from `frame`; that of the mark if there is none
    std::uint32_t function = 0;
    std::uintptr_t word = 0;

    /// Expects the call again whose path, `known`, has just been compared. Seldom a path has more words on the way to the mark.
    void expect(const KnownPath& known, const Mark& mark) noexcept {
        std::uint32_t count = 0;
        while (count != known.words && known.frame + known.word[count].distance != mark.slot) ++count;
        if (count > 1 || count == known.words) return;
        slot = known.word[0].distance;
        word = count == 0 ? mark_stub() : known.word[0].value;
        return_address = known.return_address;
        function = known.function;
        state = ProcessState::both(SessionState::Measuring, known.epoch);
        mark_slot = mark.slot;
        mark_version = mark.version;
        frame = known.frame;
    }
    /// The call from `address` leads to the mark, which is where it was.
    [[gnu::always_inline]] bool leads_to(const Mark& mark, const void* address) const noexcept {
        return return_address == address && *reinterpret_cast<const std::uintptr_t*>(frame + slot) == word && mark.slot == mark_slot &&
               mark.version == mark_version && *reinterpret_cast<const std::uintptr_t*>(mark_slot) == mark_stub();
    }
};
static_assert(sizeof(ExpectedPoll) <= 64);

class PollRun {
  public:
    const void* site = nullptr;           // of the calls; nullptr if there is no run. Every MPI call looks at it
    ExpectedPoll next;                    // every poll
    const void* path = nullptr;           // what its call path rests on
    PollStatistics* statistics = nullptr; // of the site
    Row* row = nullptr;
    std::uint64_t own_ns = 0;  // of libprofile, around a call that is not timed
    std::uint64_t untimed = 0; // calls that found nothing
    std::uint64_t repeats = 0; // the same, which were only counted; as of count_repeats()
    std::uint64_t timed = 0;
    std::uint64_t timed_ns = 0;
    std::uint64_t found_untimed = 0; // calls that found something
    bool is_disturbed = false;       // ends with the poll that runs

    static constexpr std::uint32_t short_run = 64;

    /// The first poll of a run has just ended, at `now`, and took `first_ns`. `booked`: ns in events and libprofile that the segment holds.
    void begin(const void* from, const void* its_path, PollStatistics& of_site, Row& its_row, std::uint64_t now, std::uint64_t first_ns, std::uint64_t own,
               std::uint64_t booked) noexcept {
        const std::uint32_t random = random_;
        const std::uint32_t until_timed = until_timed_; // goes on over short runs: none of their polls is preferred
        *this = {};
        site = from;
        path = its_path;
        statistics = &of_site;
        row = &its_row;
        own_ns = own;
        began_at_ = now;
        booked_ = booked;
        first_ns_ = first_ns;
        until_timed_ = until_timed;
        random_ = random;
    }
    /// The run that has this row goes on, as far as is known.
    bool goes_on(const Row* its_row) const { return site != nullptr && row == its_row && !is_disturbed; }
    /// A call has begun as one of next.left, and is not counted as such: it found something. Returns false if the run has ended in it, and has counted it.
    bool give_back(const Row* its_row) {
        if (site == nullptr || row != its_row) return false;
        ++next.left;
        return true;
    }
    /// A call inside of the poll that runs may have replaced what the run rests on.
    void disturb() {
        is_disturbed = true;
        next.frame = 0;
    }
    /// Counts in the row those of which only next.left tells.
    void count_repeats() {
        const std::uint32_t fresh = granted_ - next.left;
        granted_ = next.left;
        (*row)[Metric::Visits] += fresh;
        row->chance_visits += fresh;
        repeats += fresh;
    }
    void end() {
        if (site != nullptr) count_repeats();
        site = nullptr;
        until_timed_ += next.left;
        next.left = granted_ = 0;
        next.frame = 0;
    }
    /// So many next calls need not be timed.
    void grant(std::uint32_t calls) {
        count_repeats();
        next.left = granted_ = calls;
    }
    /// A call begins that is not counted by next.left: true when it is to be timed.
    bool is_due() {
        if (length_ < short_run) {
            ++length_;
            if (!statistics->finds_cheaply()) return true;
        }
        if (next.left != 0) { // it was looked at for another reason, as each one from Python is
            --next.left;
            --granted_; // the caller counts it
            return false;
        }
        if (until_timed_ != 0) { // left of an earlier run
            grant(until_timed_ - 1);
            until_timed_ = 0;
            return false;
        }
        random_ = random_ * 1664525u + 1013904223u;
        grant(static_cast<std::uint32_t>((std::uint64_t{random_} * spread_) >> 32)); // 0 .. spread_ - 1
        if (spread_ < widest) spread_ = std::min(spread_ * 2, widest);
        return true;
    }
    /// The time of the run until `now` that is not booked: for its calls that were not timed.
    std::uint64_t time_left(std::uint64_t now, std::uint64_t booked) const {
        const std::uint64_t elapsed = now > began_at_ ? now - began_at_ : 0;
        const std::uint64_t since = booked - booked_; // timed calls, samples
        return elapsed > since ? elapsed - since : 0;
    }
    std::uint64_t calls_without_time() const { return untimed + repeats + found_untimed; }
    std::uint64_t estimate() const {
        const std::uint64_t found = found_untimed * statistics->mean_found();
        if (timed == 0) return (untimed + repeats) * first_ns_ + found;
        return static_cast<std::uint64_t>(static_cast<unsigned __int128>(timed_ns) * (untimed + repeats) / timed) + found;
    }
    /// Of libprofile, around those calls.
    std::uint64_t own_estimate() const { return (untimed + found_untimed) * own_ns + repeats * unseen_cost.poll_ns; }

  private:
    std::uint64_t began_at_ = 0; // ns: the end of the first unsuccessful call, which was timed as any other
    std::uint64_t booked_ = 0;
    std::uint64_t first_ns_ = 0; // the first call's; used while no other was timed
    static constexpr std::uint32_t widest = 253;
    std::uint32_t length_ = 0;
    std::uint32_t spread_ = 21;
    std::uint32_t until_timed_ = 0;
    std::uint32_t granted_ = 0; // next.left as of count_repeats()
    std::uint32_t random_ = 0x2545f491u;
};

} // namespace libprofile
