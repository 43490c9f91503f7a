#include "libprofile/loops/log_folding.hpp"

#include "libprofile/base/scratch.hpp"
#include "libprofile/loops/site_path.hpp"

#include <algorithm>
#include <bit>

namespace libprofile {

namespace {

constexpr std::uint32_t most_levels = SitePath::most;

/// Up to which level each call comes again inside: the largest L such that it came twice while no function up to L + 1 returned.
class Repetitions {
  public:
    explicit Repetitions(std::size_t nodes) noexcept : calls_(nodes) {}
    bool is_there() const { return calls_.is_there(); }

    void add(const LoggedEvent& event) noexcept {
        ++index_;
        while (entries_ != 0 && entry_[entries_ - 1].common >= event.common) --entries_;
        if (entries_ != most_levels) entry_[entries_++] = {event.common, index_};
        Call& call = calls_[event.node];
        if (call.last != 0) {
            // The outermost function that has gone on since then. What stays in one entry ends at its level.
            std::uint32_t outermost = event.common;
            for (std::uint32_t i = entries_; i-- != 0 && entry_[i].index > call.last;) outermost = entry_[i].common;
            if (outermost != 0) call.level = std::max(call.level, outermost - 1);
        }
        call.last = index_;
    }
    /// 0 if it is not known to come again.
    std::uint32_t level_of(NodeId node) noexcept { return calls_[node].level; }

  private:
    struct Call {
        std::uint32_t last = 0; // number of the event
        std::uint32_t level = 0;
    };
    struct Entry { // the last event at level `common` or outside it
        std::uint32_t common;
        std::uint32_t index;
    };
    Scratch<Call> calls_;
    std::uint32_t index_ = 0;
    Entry entry_[most_levels];
    std::uint32_t entries_ = 0; // farther out and earlier first
};

/// The growth of some rows, added up.
class Sums {
  public:
    explicit Sums(std::size_t nodes) noexcept : numbers_(nodes), rows_(most) {}
    bool is_there() const { return numbers_.is_there() && rows_.is_there(); }

    void add(EventLog::Reader& reader, LogRecord kind, EventLog& to) noexcept {
        std::uint32_t& number = numbers_[reader.node];
        if (number == 0) {
            if (used_ == most) flush(to);
            rows_[used_].node = reader.node;
            number = ++used_;
        }
        Increments& row = rows_[number - 1];
        if (kind == LogRecord::Sample) {
            row.samples += reader.count;
            row.weight += reader.weight;
            return;
        }
        row.has_values = true;
        for (std::uint32_t i = 0; i < reader.count; ++i) {
            std::uint32_t metric = 0;
            std::uint64_t increment = 0;
            reader.value(metric, increment);
            const bool is_first = (row.present >> metric & 1) == 0;
            row.present |= std::uint64_t{1} << metric;
            if (metric != EventLog::away_since || is_first)
                row.value[metric] += increment;
            else
                row.value[metric] = std::min(row.value[metric], increment);
        }
    }
    void flush(EventLog& to) noexcept {
        for (std::uint32_t i = 0; i < used_; ++i) {
            Increments& row = rows_[i];
            if (row.samples != 0) to.add_samples(row.node, row.samples, row.weight);
            EventLog::Cell cells[64];
            std::uint32_t count = 0;
            for (std::uint64_t left = row.present; left != 0; left &= left - 1) {
                const auto metric = static_cast<std::uint32_t>(std::countr_zero(left));
                cells[count++] = {metric, row.value[metric]};
            }
            if (row.has_values) to.add_values(row.node, cells, count);
            numbers_[row.node] = 0;
            row = {};
        }
        used_ = 0;
    }

  private:
    static constexpr std::uint32_t most = 64;
    struct Increments {
        NodeId node = 0;
        bool has_values = false;
        std::uint64_t samples = 0;
        std::uint64_t weight = 0;
        std::uint64_t present = 0;
        std::uint64_t value[64] = {};
    };
    Scratch<std::uint32_t> numbers_; // by node: number of its row + 1
    Scratch<Increments> rows_;
    std::uint32_t used_ = 0;
};

/// The event says nothing of levels up to this one. 0 if it matters to all levels.
std::uint32_t idle_level(const LoggedEvent& event, Repetitions& repetitions) noexcept {
    const std::uint32_t level = repetitions.level_of(event.node);
    return event.common == 0 ? 0 : std::min({event.common - 1, level, most_levels});
}

/// Returns the innermost level, not outside `least`, that lets half of the log go; or `least` if that frees a quarter; else 0.
std::uint32_t choose_level(const EventLog& log, Repetitions& repetitions, std::uint32_t least) noexcept {
    std::size_t bytes[most_levels + 1] = {};
    std::uint32_t level = 0;
    std::size_t before = 0;
    LogRecord kind{};
    for (EventLog::Reader reader(log, log.begin()); reader.next(kind);) {
        bytes[level] += reader.offset() - before;
        before = reader.offset();
        if (kind == LogRecord::Event) level = idle_level(reader.event, repetitions);
    }
    std::size_t idle = 0;
    for (level = most_levels; level >= least; --level) {
        idle += bytes[level];
        if (idle >= log.used() / 2) return level;
    }
    return idle >= log.used() / 4 ? least : 0;
}

} // namespace

bool fold(EventLog& log, const CallTree& tree, std::uint32_t least_level, EventLog::Position& whole_from) noexcept {
    if (log.used() == 0) return false;
    Repetitions repetitions(tree.size());
    Sums sums(tree.size());
    if (!repetitions.is_there() || !sums.is_there()) return false;
    LogRecord kind{};
    std::uint64_t events = 0;
    for (EventLog::Reader reader(log, log.begin()); reader.next(kind);) {
        if (kind != LogRecord::Event) continue;
        repetitions.add(reader.event);
        ++events;
    }
    const std::uint32_t level = choose_level(log, repetitions, std::max(least_level, 1u));
    if (level == 0) return false;

    EventLog folded;
    folded.start(log.limit(), log.begin().time);
    EventLog::Position whole = folded.begin();
    bool is_whole = whole_from.offset == 0;
    LoggedEvent gone;
    gone.common = ~0u;
    LoggedReturns returns;
    for (EventLog::Reader reader(log, log.begin()); reader.next(kind);) {
        if (reader.are_returns(kind)) {
            reader.returns(returns);
            gone.since += returns.since;
            if (returns.first > level) continue; // the function was inside what is folded
            returns.count = std::min(returns.count, level + 1 - returns.first);
            returns.since = gone.since;
            gone.since = {};
            sums.flush(folded);
            folded.add_returns(returns);
        } else if (kind != LogRecord::Event) {
            sums.add(reader, kind, folded);
        } else {
            LoggedEvent event = reader.event;
            const bool is_last = --events == 0; // what follows the log counts from it
            event.comes_again = event.comes_again || repetitions.level_of(event.node) >= level;
            if (!is_last && idle_level(reader.event, repetitions) >= level) {
                gone.since += event.since;
                gone.common = std::min(gone.common, event.common);
            } else {
                sums.flush(folded);
                event.since += gone.since;
                event.common = std::min(event.common, gone.common);
                folded.add_event(event);
                gone = {};
                gone.common = ~0u;
            }
        }
        if (is_whole || reader.offset() < whole_from.offset) continue;
        sums.flush(folded); // values of earlier events stay before
        gone.since = {};
        whole = folded.end();
        is_whole = true;
    }
    sums.flush(folded);
    if (folded.is_full() || folded.used() > log.used() / 4 * 3) {
        folded.release();
        return false;
    }
    whole_from = whole;
    folded.replace(log, level, log.end().time + 1);
    return true;
}

} // namespace libprofile
