#include "tools/view/timeline_window.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/names/labels.hpp"
#include "tools/reader/counters.hpp"
#include "tools/text/layout.hpp"
#include "tools/timeline/row_window.hpp"
#include "tools/view/durations_entry.hpp"
#include "tools/view/page_request.hpp"
#include "tools/view/timeline_entry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_rows = 200, most_pixels = 20'000;  // of a row
constexpr std::size_t most_pixels_of_rows = 64 * most_pixels; // the page shows 64 rows
constexpr std::size_t most_counts = 6;                        // of a kind; pages ask in turn
constexpr std::size_t colored_types = 16;                     // of tasks; viewer/src/events/colors.ts has as many
constexpr std::chrono::milliseconds step{25};                 // of a count: pictures wait for it
constexpr std::uint64_t whole_events = 60'000;                // of all rows, that come one by one
/// Of all rows: what a picture may read. Two processors take about 20 ms for it.
constexpr PixelEffort quick = {500'000 / LeafReader::size, 150'000}, fine = {3 * quick.leaves, 3 * quick.sums};

/// In steps of a quarter of an octave; 0: no call.
std::uint64_t length_code(std::uint64_t ns) { return ns == 0 ? 0 : 1 + static_cast<std::uint64_t>(4 * std::log2(static_cast<double>(ns))); }

/// Runs of equal pixels, one row after the other.
class PixelColumns {
  public:
    PixelColumns(bool has_classes, bool has_passing) : has_classes_(has_classes), has_passing_(has_passing) {}

    /// @param passing empty: there is no filter, or nothing of the row passes
    void add(const std::vector<TimelinePixel>& pixels, const std::vector<PassingPixel>& passing) {
        std::size_t runs = 0;
        for (std::size_t first = 0, last = 0; first < pixels.size(); first = last) {
            const auto code = [&](std::size_t x) {
                const TimelinePixel& p = pixels[x];
                const PassingPixel own = passing.empty() ? PassingPixel{} : passing[x];
                const std::uint64_t state = p.state == TimelinePixel::unknown ? 0 : 1 + 2 * std::uint64_t{p.state} + (p.is_half_known ? 1 : 0);
                return std::array<std::uint64_t, 5>{state, length_code(p.longest), p.task_class, own.is_some ? std::uint64_t{own.kind} + 1 : 0,
                                                    length_code(own.longest)};
            };
            const auto own = code(first);
            for (last = first + 1; last < pixels.size() && code(last) == own;) ++last;
            lengths_.add(last - first);
            for (std::size_t i = 0; i < own.size(); ++i) codes_[i].add(own[i]);
            ++runs;
        }
        runs_.push_back(runs);
    }
    Json add_to(Sections& sections) const {
        Json entry = {{"runs", runs_}, {"lengths", sections.add(lengths_)}, {"states", sections.add(codes_[0])}, {"longest", sections.add(codes_[1])}};
        if (has_classes_) entry["classes"] = sections.add(codes_[2]);
        if (has_passing_) {
            entry["passing"] = sections.add(codes_[3]);
            entry["passing_longest"] = sections.add(codes_[4]);
        }
        return entry;
    }

  private:
    const bool has_classes_, has_passing_;
    Json runs_ = Json::array(); // by location
    NumberColumn lengths_;
    std::array<NumberColumn, 5> codes_;
};

/// Where all or nothing of a thread passes.
std::vector<PassingPixel> whole_passing(const std::vector<TimelinePixel>& pixels, bool by_type) {
    std::vector<PassingPixel> list;
    for (const TimelinePixel& p : pixels) list.push_back({p.state != TimelinePixel::unknown, by_type ? p.task_class : p.state, p.longest});
    return list;
}

/// The spans of kept iterations: those whose turn it was, and those that the index names. Where none was dropped, all is known.
std::vector<ShownSpan> kept_spans(const Location& location, const RowIndex& index) {
    if (index.is_complete()) return {{0, ~std::uint64_t{0}}};
    std::vector<ShownSpan> spans;
    for (const PhaseData& data : location.phases) {
        std::vector<std::uint64_t> others;
        for (const auto& [number, phase] : location.left_events->phases)
            if (phase == data.phase)
                for (const auto& [its, iteration] : index.others)
                    if (its == number) others.push_back(iteration);
        std::sort(others.begin(), others.end());
        const std::size_t known = std::min(data.iteration_begin_ns.size(), data.iteration_ns.size());
        for (std::uint64_t i = 0; i < known; ++i)
            if (i % index.head.stride == 0 || std::binary_search(others.begin(), others.end(), i))
                spans.push_back({data.iteration_begin_ns[i], data.iteration_begin_ns[i] + data.iteration_ns[i]});
    }
    std::sort(spans.begin(), spans.end(), [](const ShownSpan& a, const ShownSpan& b) { return a.begin_ns < b.begin_ns; });
    return spans;
}

/// The events of a picture, as long as it is made.
class ShownEvents {
  public:
    ShownEvents(Profile& shown, const TimelineIndex& index, const std::vector<std::uint32_t>& rows) : shown_(shown), index_(index), rows_(rows) {}
    ShownEvents(const ShownEvents&) = delete;
    ShownEvents& operator=(const ShownEvents&) = delete;
    ~ShownEvents() {
        for (const std::uint32_t l : rows_)
            if (const IndexedRow* row = index_.row(l)) shown_.locations[l].events = row->index().head;
    }

  private:
    Profile& shown_;
    const TimelineIndex& index_;
    const std::vector<std::uint32_t>& rows_;
};

/// Stretches of tasks, whose creation is not looked for. @return how many each location has
std::vector<std::size_t> add_run_columns(const Profile& profile, const PageTables& tables, NamedColumns& columns) {
    NumberColumn &begins = columns.column("runs", "begins"), &lengths = columns.column("runs", "lengths"), &tasks = columns.column("runs", "tasks"),
                 &nodes = columns.column("runs", "nodes"), &flags = columns.column("runs", "flags");
    RanOnColumn ran_on(profile, columns, "runs");
    std::vector<std::size_t> counts;
    for (const Location& location : profile.locations) {
        std::vector<TracedTaskRun> runs = location.events.runs;
        std::erase_if(runs, [](const TracedTaskRun& run) { return run.end_ns < run.begin_ns; });
        std::stable_sort(runs.begin(), runs.end(), [](const TracedTaskRun& a, const TracedTaskRun& b) {
            return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns; // outer ones first
        });
        std::uint64_t begin = 0, node = 0;
        for (const TracedTaskRun& run : runs) {
            begins.add(run.begin_ns - begin);
            begin = run.begin_ns;
            lengths.add(run.end_ns - run.begin_ns);
            tasks.add_signed(0);
            const std::uint64_t own = run.path < tables.cells.node_of_path.size() ? tables.cells.node_of_path[run.path] : 0;
            nodes.add_signed(static_cast<std::int64_t>(own - node));
            node = own;
            flags.add((run.is_over ? 1u : 0u) | (run.is_resumed ? 2u : 0u));
            ran_on.add(location.rank, run.processor);
        }
        counts.push_back(runs.size());
    }
    return counts;
}

std::vector<std::vector<bool>> all_parts(const Profile& profile) {
    std::vector<std::vector<bool>> list;
    for (const Location& location : profile.locations) list.emplace_back(location.events.parts.size(), true);
    return list;
}

} // namespace

TimelineWindow::TimelineWindow(const Profile& profile, const PageTables& tables, std::shared_ptr<const TimelineIndex> index)
    : profile_(profile), tables_(tables), axis_(profile), index_(std::move(index)), rows_(index_->rows()), types_(profile, rows_),
      classes_(types_.classes(colored_types)), has_senders_(all_have_senders(profile, rows_)) {
    shown_.ranks = profile.ranks;
    shown_.paths = profile.paths;
    shown_.functions = profile.functions;
    shown_.phases = profile.phases;
    for (const Location& location : profile.locations) {
        Location& own = shown_.locations.emplace_back();
        own.rank = location.rank;
        own.thread = location.thread;
        if (const IndexedRow* row = index_->row(shown_.locations.size() - 1)) own.events = row->index().head;
    }
}

double TimelineWindow::own(std::size_t location, double place) const {
    const ClockAxis::RankClock& clock = axis_.clock(profile_.locations[location].rank);
    const double scale = clock.own_ns == 0 ? 1 : static_cast<double>(clock.monotonic_ns) / static_cast<double>(clock.own_ns);
    return (place - static_cast<double>(clock.begin_ns)) / scale;
}

bool TimelineWindow::has_tasks(std::uint32_t location) const { return rows_[location] != nullptr && !rows_[location]->index().run_paths.empty(); }

void TimelineWindow::check_filter(const CallFilter& filter) const {
    if (!filter.has_limits() || !filter.takes_tasks()) return;
    for (std::uint32_t l = 0; l < rows_.size(); ++l)
        if (has_tasks(l)) throw ViewError("how long each task takes is not known in pictures of a large trace: choose only calls, or no limits");
}

template <class Key, class Count>
TimelineWindow::Counted<Key, Count>& TimelineWindow::counted(CountedList<Key, Count>& list, const Key& key, const CallFilter& filter) {
    const auto known = std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.key == key; });
    if (known != list.end())
        list.splice(list.end(), list, known);
    else
        list.emplace_back(key, filter.is_active() ? passing_of(filter) : nullptr);
    if (list.size() > most_counts) list.pop_front();
    return list.back();
}

std::shared_ptr<const PassingCalls> TimelineWindow::passing_of(const CallFilter& filter) {
    if (!passing_ || !(passing_->filter() == filter)) passing_ = std::make_shared<const PassingCalls>(profile_, rows_, types_, filter);
    return passing_;
}

/// Tasks would need all of their rank's threads, over the whole run: of their stretches there is when they are, and what runs.
Json TimelineWindow::lists(const ChosenParts& parts, const std::vector<std::vector<SummedStretch>>& stretches, Sections& sections) const {
    const MessagePairs pairs(shown_);
    NamedColumns columns;
    const TimelineColumns events(shown_, tables_, pairs, parts, stretches, columns);
    const CollectiveColumns collectives(shown_, axis_, events, columns);
    const std::vector<std::size_t> runs = add_run_columns(shown_, tables_, columns);
    columns.compress();
    Json entry = timeline_lists(shown_, axis_, columns, events, collectives, nullptr, nullptr, true, sections);
    entry["rows"]["runs"] = runs;
    for (const TaskPlace& type : types_.types) entry["types"].push_back({{"function", printable(type.function)}, {"source", printable(type.source)}});
    return entry;
}

Json TimelineWindow::first(Sections& sections) const {
    std::vector<std::vector<ShownSpan>> shown(profile_.locations.size());
    std::uint64_t end = 0;
    Json is_indexed = Json::array();
    for (std::size_t l = 0; l < shown.size(); ++l) {
        const IndexedRow* row = index_->row(l);
        is_indexed.push_back(row != nullptr);
        if (row == nullptr) continue;
        shown[l] = kept_spans(profile_.locations[l], row->index());
        end = std::max(end, axis_.at(profile_.locations[l].rank, row->index().end));
    }
    const std::vector<std::vector<SummedStretch>> stretches = summed_stretches(profile_, shown, most_stretches);
    bool has_stretches = false;
    for (std::size_t l = 0; l < shown.size(); ++l)
        for (const SummedStretch& stretch : stretches[l]) {
            has_stretches = true;
            end = std::max(end, axis_.at(profile_.locations[l].rank, stretch.end_ns));
        }
    const ChosenParts none{all_parts(shown_)};
    Json entry = lists(none, stretches, sections);
    entry["end"] = end;
    entry["indexed"] = is_indexed;
    entry["called"] = called();
    entry["counters"] = counters();
    entry["messages_known"] = has_senders_;
    Json notes = Json::array();
    notes.push_back(fmt::format("there are {} of events: the page asks for those that it shows", byte_size(static_cast<double>(index_->event_bytes()))));
    for (const std::string& note : index_->notes()) notes.push_back(note);
    if (!types_.types.empty())
        notes.push_back(
            "tasks of OpenMP have the time and the function of each stretch; who made them and what they depend on, `libprofile report --tasks` has");
    if (has_stretches) notes.push_back("iterations without events have stripes of lighter colours: their sums are known, not the order of what they did");
    entry["notes"] = notes;
    return entry;
}

/// Nodes of calls and regions, that with most time first.
Json TimelineWindow::called() const {
    std::map<std::uint32_t, std::uint64_t> time;
    for (const IndexedRow* row : rows_) {
        if (row == nullptr) continue;
        const std::vector<std::uint32_t>& paths = *row->block().paths;
        for (const auto& [node, ns] : row->index().called)
            if (node < paths.size() && paths[node] < tables_.cells.node_of_path.size()) time[tables_.cells.node_of_path[paths[node]]] += ns;
    }
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
    for (const auto& [node, ns] : time) order.emplace_back(ns, node);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    Json list = Json::array();
    for (const auto& [ns, node] : order) list.push_back(node);
    return list;
}

/// That were read.
Json TimelineWindow::counters() const {
    std::set<std::string> known;
    Json list = Json::array();
    for (std::size_t l = 0; l < rows_.size(); ++l) {
        if (rows_[l] == nullptr || rows_[l]->index().read_first.empty()) continue;
        const std::vector<std::string> names = counter_names(profile_, profile_.locations[l].rank);
        for (const RowIndex::FirstReading& reading : rows_[l]->index().read_first)
            if (reading.counter < names.size() && known.insert(names[reading.counter]).second)
                list.push_back({{"name", printable(names[reading.counter])}, {"unit", counter_unit(profile_, names[reading.counter])}});
    }
    return list;
}

void TimelineWindow::check_rows(const std::vector<std::uint32_t>& rows) const {
    for (const std::uint32_t l : rows)
        if (l >= profile_.locations.size()) throw ViewError(fmt::format("there is no thread {}", l));
}

Json TimelineWindow::picture(const Question& question, Sections& sections) {
    const std::size_t rows = question.rows.size(), n = question.pixels;
    if (!(question.from < question.to) || !std::isfinite(question.from) || !std::isfinite(question.to) || n == 0 || n > most_pixels || rows == 0 ||
        rows > most_rows || rows * n > most_pixels_of_rows)
        throw ViewError("there is no such picture");
    check_rows(question.rows);
    const bool is_filtered = question.filter.is_active(), is_counted = is_filtered && !question.filter.is_of_threads();
    if (is_counted) check_filter(question.filter);
    const auto has_events = [&](std::uint32_t l) {
        if (question.by_type || (is_counted && has_tasks(l))) return false;
        const std::uint64_t begin = whole_ns(own(l, question.from)), end = whole_ns(std::ceil(own(l, question.to)));
        return leaves_between(*rows_[l], begin, end) * LeafReader::size <= std::max<std::uint64_t>(3 * LeafReader::size, whole_events / rows);
    };
    const std::shared_ptr<const PassingCalls> filter = is_filtered ? passing_of(question.filter) : nullptr;
    const PassingPixels* passed = nullptr;
    if (is_counted) {
        auto& asked = counted(passing_pixels_, {question.from, question.to, n, question.rows, question.by_type, question.filter}, question.filter);
        if (!asked.count) {
            std::vector<PassingPixels::Row> wanted;
            for (const std::uint32_t l : question.rows)
                if (rows_[l] != nullptr && !has_events(l)) wanted.push_back({l, own(l, question.from), own(l, question.to)});
            asked.count.emplace(rows_, *asked.passing, wanted, n, question.by_type ? &classes_ : nullptr);
        }
        passed = &*asked.count;
        asked.count->go_on(step);
        if (!asked.count->is_done()) return {{"counting", "what passes"}, {"share", asked.count->share()}};
    }
    const PixelEffort& all = question.is_fine ? fine : quick;
    const PixelEffort effort{all.leaves / rows, all.sums / rows};
    std::vector<TimelinePixels> pixels(profile_.locations.size());
    const ShownEvents shown(shown_, *index_, question.rows); // also where a file turns out to be damaged
    in_parallel(rows, [&](std::size_t i) {
        const std::uint32_t l = question.rows[i];
        const IndexedRow* row = index_->row(l);
        if (row == nullptr) return;
        const double from = own(l, question.from), to = own(l, question.to);
        if (has_events(l))
            shown_.locations[l].events = events_between(*row, whole_ns(from), whole_ns(std::ceil(to)), true);
        else
            pixels[l] = pixels_between(*row, from, to, n, effort, question.by_type ? &classes_[l] : nullptr);
    });
    const std::vector<std::vector<SummedStretch>> no_stretches(profile_.locations.size());
    const ChosenParts chosen{all_parts(shown_)};
    Json entry = lists(chosen, no_stretches, sections);
    PixelColumns runs(question.by_type, is_filtered);
    bool is_exact = true;
    for (std::uint32_t l = 0; l < pixels.size(); ++l) {
        std::vector<PassingPixel> passing;
        if (is_filtered && !pixels[l].pixels.empty() && filter->has_thread(l))
            passing = is_counted ? passed->pixels(l) : whole_passing(pixels[l].pixels, question.by_type);
        runs.add(pixels[l].pixels, passing);
        is_exact = is_exact && pixels[l].is_exact;
    }
    entry["pixels"] = runs.add_to(sections);
    entry["count"] = n;
    entry["window"] = {question.from, question.to};
    entry["exact"] = is_exact;
    entry["notes"] = Json::array();
    return entry;
}

SelectedTimes TimelineWindow::times(double from, double to) const {
    if (!(from < to) || !std::isfinite(from) || !std::isfinite(to)) throw ViewError("there is no such time");
    SelectedTimes times;
    for (std::size_t l = 0; l < profile_.locations.size(); ++l) times.spans.push_back({whole_ns(std::round(own(l, from))), whole_ns(std::round(own(l, to)))});
    return times;
}

SelectedTimes TimelineWindow::times_of_iteration(std::uint32_t phase, std::uint64_t number) const {
    std::map<std::uint32_t, SelectedTimes::Span> of_rank;
    for (const Location* main : tables_.mains) {
        const PhaseData* data = find_phase(main, phase);
        if (data == nullptr || number >= std::min(data->iteration_begin_ns.size(), data->iteration_ns.size())) continue;
        of_rank[main->rank] = {data->iteration_begin_ns[number], data->iteration_begin_ns[number] + data->iteration_ns[number]};
    }
    if (of_rank.empty()) throw ViewError("there is no such iteration");
    SelectedTimes times;
    times.is_iteration = true;
    // Of what was kept, each thread has its own times. Of other iterations those of the main thread are known.
    times.spans.resize(profile_.locations.size());
    in_parallel(times.spans.size(), [&](std::size_t l) {
        const auto about = of_rank.find(profile_.locations[l].rank);
        const IndexedRow* row = index_->row(l);
        if (about == of_rank.end() || row == nullptr || !about->second.is_there()) return;
        if (const auto part = part_of_iteration(*row, phase, number, about->second.begin_ns, about->second.end_ns))
            times.spans[l] = {part->begin_ns, part->end_ns};
    });
    for (std::size_t l = 0; l < times.spans.size(); ++l)
        if (profile_.locations[l].thread == 0 && times.spans[l].is_there()) of_rank.erase(profile_.locations[l].rank);
    for (std::size_t l = 0; l < times.spans.size(); ++l) {
        const auto about = of_rank.find(profile_.locations[l].rank);
        if (about != of_rank.end() && !times.spans[l].is_there()) times.spans[l] = about->second;
    }
    return times;
}

Json TimelineWindow::sums(const SelectedTimes& times, const CallFilter& filter) {
    const PassingSums* passing = nullptr;
    const bool is_counted = filter.is_active() && !filter.is_of_threads();
    if (is_counted) {
        check_filter(filter);
        auto& asked = counted(passing_sums_, {times, filter}, filter);
        if (!asked.count) asked.count.emplace(rows_, *asked.passing, times);
        asked.count->go_on(step);
        if (!asked.count->is_done()) return {{"counting", "what passes"}, {"share", asked.count->share()}};
        passing = &*asked.count;
    }
    std::vector<TimelineSums> sums(times.spans.size());
    in_parallel(sums.size(), [&](std::size_t l) {
        const IndexedRow* row = index_->row(l);
        if (row != nullptr && times.spans[l].is_there()) sums[l] = sums_between(*row, times.spans[l].begin_ns, times.spans[l].end_ns);
    });
    Json entry = {{"sums", sums}};
    if (passing != nullptr) entry["passing"] = passing->sums();
    if (filter.is_active() && !is_counted) { // of a thread all or nothing
        const std::shared_ptr<const PassingCalls> chosen = passing_of(filter);
        for (std::size_t l = 0; l < sums.size(); ++l)
            if (!chosen->has_thread(l)) sums[l] = {};
        entry["passing"] = sums;
    }
    if (!times.is_iteration) return entry;
    Json places = Json::array();
    for (std::size_t l = 0; l < sums.size(); ++l) {
        const auto place = [&](std::uint64_t ns) { return axis_.at(profile_.locations[l].rank, ns); };
        places.push_back(times.spans[l].is_there() ? Json{place(times.spans[l].begin_ns), place(times.spans[l].end_ns)} : Json());
    }
    entry["spans"] = places;
    return entry;
}

Json TimelineWindow::totals(const Intervals& intervals, Sections& sections) const {
    constexpr std::size_t most_totals = 2'000; // pictures wait meanwhile; the page asks for fewer
    const std::size_t n = intervals.count, rows = intervals.rows.size();
    if (!std::isfinite(intervals.from) || !(intervals.every >= 1) || !std::isfinite(intervals.every) || n == 0 || n > most_totals || rows == 0 ||
        rows > most_totals / n)
        throw ViewError("there are no such intervals");
    check_rows(intervals.rows);
    std::vector<std::vector<TimelineSums>> sums(rows);
    in_parallel(rows, [&](std::size_t r) {
        const std::uint32_t l = intervals.rows[r];
        const IndexedRow* row = index_->row(l);
        for (std::size_t i = 0; i <= n; ++i) {
            const double place = intervals.from + intervals.every * static_cast<double>(i);
            sums[r].push_back(row == nullptr ? TimelineSums{} : sums_before(*row, whole_ns(std::round(own(l, place)))));
        }
    });
    NumberColumn column;
    for (const std::vector<TimelineSums>& of_row : sums) {
        TimelineSums before = {};
        for (const TimelineSums& at : of_row) {
            for (std::size_t s = 0; s < at.size(); ++s) column.add(at[s] - before[s]);
            before = at;
        }
    }
    return {{"totals", sections.add(column)}};
}

Json TimelineWindow::series(const Series& asked) {
    constexpr std::size_t most_intervals = 5'000, most_values = 4'000'000;
    const Intervals& intervals = asked.intervals;
    if (!std::isfinite(intervals.from) || !(intervals.every >= 1) || !std::isfinite(intervals.every) || intervals.count == 0 ||
        intervals.count > most_intervals || intervals.count * rows_.size() > most_values)
        throw ViewError("there are no such intervals");
    SeriesQuestion question = asked.question;
    if (question.of == SeriesQuestion::Of::Sent || question.of == SeriesQuestion::Of::Messages) check_senders();
    question.edges.resize(rows_.size());
    for (std::size_t l = 0; l < rows_.size(); ++l)
        for (std::size_t i = 0; i <= intervals.count && rows_[l] != nullptr; ++i)
            question.edges[l].push_back(own(l, intervals.from + intervals.every * static_cast<double>(i)));
    const auto known = std::find_if(series_.begin(), series_.end(), [&](const SeriesScan& scan) { return scan.question() == question; });
    if (known != series_.end())
        series_.splice(series_.end(), series_, known);
    else
        series_.emplace_back(profile_, rows_, question);
    if (series_.size() > most_counts) series_.pop_front();
    SeriesScan& scan = series_.back();
    scan.go_on(step);
    if (!scan.is_done()) return {{"counting", "what curves need"}, {"share", scan.share()}};
    Json values = Json::array();
    for (std::size_t l = 0; l < rows_.size(); ++l) values.push_back(scan.values(l));
    return {{"values", values}};
}

void TimelineWindow::check_senders() const {
    if (!has_senders_) throw ViewError("whether all messages have their senders is not known");
}

Json TimelineWindow::messages(const SelectedTimes& times, const CallFilter& filter) {
    check_senders();
    auto& asked = counted(messages_, {times, filter}, filter);
    if (!asked.count) asked.count.emplace(profile_, rows_, times, asked.passing.get());
    asked.count->go_on(step);
    if (!asked.count->is_done()) return {{"counting", "messages"}, {"share", asked.count->share()}};
    const auto number = [](std::uint32_t rank) { return rank == TracedMessage::unknown_rank ? -1 : std::int64_t{rank}; };
    Json list = Json::array();
    for (const auto& [ranks, sum] : asked.count->sums()) list.push_back({number(ranks.first), number(ranks.second), sum.messages, sum.bytes});
    return {{"messages", list}};
}

Json TimelineWindow::durations(const SelectedTimes& times, const CallFilter& filter) {
    auto& asked = counted(durations_, {times, filter}, filter);
    if (!asked.count) asked.count.emplace(profile_, rows_, times, call_groups(tables_), asked.passing.get());
    asked.count->go_on(step);
    return durations_entry(*asked.count);
}

} // namespace libprofile::tools
