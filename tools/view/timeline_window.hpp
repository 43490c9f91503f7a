// The timeline of events that were left in their files: what a page is told first, and its pictures of any time.
// Contract: one question at a time; keeps references to profile and tables; allocates in proportion to the answer and what is read for it; throws ReadError
// where the files are damaged, ViewError for what cannot be asked, and std::bad_alloc.
//
// A picture is an entry as timeline_entry() makes it. Rows with few events there have them. Other rows have pixels: "pixels" are runs of equal ones, with
// the state that has most of the time (docs/view.md).
//
// What a filter needs all events for is counted: until that is over, the answer is how far it is ("counting", "share"), and whoever asks the same again makes
// it go on. Of the last six of a kind that were asked for it is known how far they are.
#pragma once

#include "tools/analysis/clock_axis.hpp"
#include "tools/timeline/duration_scan.hpp"
#include "tools/timeline/message_scan.hpp"
#include "tools/timeline/run_types.hpp"
#include "tools/timeline/series_scan.hpp"
#include "tools/timeline/timeline_index.hpp"
#include "tools/view/page_tables.hpp"
#include "tools/view/passing_answers.hpp"
#include "tools/view/sections.hpp"
#include "tools/view/timeline_parts.hpp"
#include "tools/view/timeline_stretches.hpp"

#include <cstdint>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace libprofile::tools {

class TimelineWindow {
  public:
    TimelineWindow(const Profile& profile, const PageTables& tables, std::shared_ptr<const TimelineIndex> index);

    struct Question {
        double from = 0, to = 0; // on the axis
        std::size_t pixels = 0;
        std::vector<std::uint32_t> rows; // locations
        bool is_fine = false;            // takes longer, and is exact unless very much lies in the picture
        bool by_type = false;            // classes of tasks; all rows have pixels
        CallFilter filter = {};
    };
    /// What the page shows of it until it has asked: all iterations without events, and how many rows there are.
    nlohmann::ordered_json first(Sections& sections) const;
    nlohmann::ordered_json picture(const Question& question, Sections& sections);
    /// Between two times of the axis.
    SelectedTimes times(double from, double to) const;
    /// Of an iteration, which each rank has at another time.
    SelectedTimes times_of_iteration(std::uint32_t phase, std::uint64_t number) const;
    /// "sums": ns by state of each location, "passing": those that pass the filter, if there is one; of an iteration also when it is, on the axis: "spans",
    /// null where a rank does not have it.
    nlohmann::ordered_json sums(const SelectedTimes& times, const CallFilter& filter);
    struct Intervals {
        double from = 0, every = 0; // on the axis
        std::size_t count = 0;
        std::vector<std::uint32_t> rows; // locations
    };
    /// ns by state in times that follow each other, exactly: "totals", of each row what is before the first interval, then of each interval.
    nlohmann::ordered_json totals(const Intervals& intervals, Sections& sections) const;
    struct Series {
        Intervals intervals;     // rows: all
        SeriesQuestion question; // without edges
    };
    /// What grows with time at the ends of intervals (series_scan.hpp): "values", by location.
    nlohmann::ordered_json series(const Series& asked);
    /// "messages": sender (-1: not known), receiver, number of messages and bytes, in the order of ranks.
    nlohmann::ordered_json messages(const SelectedTimes& times, const CallFilter& filter);
    /// How long calls and tasks take (durations_entry.hpp).
    nlohmann::ordered_json durations(const SelectedTimes& times, const CallFilter& filter);

  private:
    /// A count that goes on, and what was asked for.
    template <class Key, class Count> struct Counted {
        Key key;
        std::shared_ptr<const PassingCalls> passing = {};
        std::optional<Count> count = {};
    };
    struct PictureKey {
        double from, to;
        std::size_t pixels;
        std::vector<std::uint32_t> rows;
        bool by_type;
        CallFilter filter;
        bool operator==(const PictureKey&) const = default;
    };
    using SelectionKey = std::pair<SelectedTimes, CallFilter>;
    template <class Key, class Count> using CountedList = std::list<Counted<Key, Count>>; // the one that was asked for last is the last one
    template <class Key, class Count> Counted<Key, Count>& counted(CountedList<Key, Count>& list, const Key& key, const CallFilter& filter);
    std::shared_ptr<const PassingCalls> passing_of(const CallFilter& filter);
    void check_filter(const CallFilter& filter) const;
    void check_senders() const;
    bool has_tasks(std::uint32_t location) const;
    nlohmann::ordered_json called() const;
    nlohmann::ordered_json counters() const;
    double own(std::size_t location, double place) const;
    void check_rows(const std::vector<std::uint32_t>& rows) const;
    nlohmann::ordered_json lists(const ChosenParts& parts, const std::vector<std::vector<SummedStretch>>& stretches, Sections& sections) const;

    const Profile& profile_;
    const PageTables& tables_;
    const ClockAxis axis_;
    std::shared_ptr<const TimelineIndex> index_;
    const IndexedRows rows_;
    const RunTypes types_;
    const std::vector<TaskClasses> classes_;
    const bool has_senders_;                      // all_have_senders()
    Profile shown_;                               // the profile's tables, with the events of a picture
    std::shared_ptr<const PassingCalls> passing_; // that was asked for last
    CountedList<SelectionKey, DurationScan> durations_;
    CountedList<SelectionKey, MessageScan> messages_;
    CountedList<SelectionKey, PassingSums> passing_sums_;
    CountedList<PictureKey, PassingPixels> passing_pixels_;
    std::list<SeriesScan> series_; // the one that was asked for last is the last one
};

} // namespace libprofile::tools
