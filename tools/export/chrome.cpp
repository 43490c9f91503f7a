// Trace events in JSON ("Trace Event Format"), what Perfetto and chrome://tracing open: for each thread a row with the sums of all phases
// and call paths, each below its caller, and a row for each phase with iterations: these with their clusters, exact times and metrics.
// Iterations are where they began on the axis of all ranks, counted from the first one. Of a thread of which that is not known they count from its own
// first one; if it is not known when they began, they are end to end, those of a loop inside another below the ones that they lie in. Sums have no
// begin. ts and dur are microseconds on the axis; args.ns is on the rank's own clock. Where the order of events was recorded, a further row for each phase
// has its most frequent orders as typical iterations, end to end: means of begins and lengths. Where events were kept, a last row has them.
#include "tools/analysis/clock_axis.hpp"
#include "tools/analysis/inside.hpp"
#include "tools/analysis/kinds.hpp"
#include "tools/export/chrome_events.hpp"
#include "tools/export/formats.hpp"
#include "tools/export/iteration_begins.hpp"
#include "tools/export/stacks.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/json_text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t most_slices = 500'000; // about 200 MB; browsers open no more
constexpr std::size_t most_orders = 10;        // of a phase and thread

double microseconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e3; }

/// Names of colours that the format knows: the same kind of iteration has the same colour on all ranks.
const char* colour(std::uint32_t kind) {
    constexpr const char* names[] = {"thread_state_running", "rail_response", "rail_animation",        "rail_idle", "rail_load", "thread_state_runnable",
                                     "thread_state_iowait",  "startup",       "heap_dump_stack_frame", "good",      "bad",       "terrible"};
    return names[kind % std::size(names)];
}

/// The chosen iterations of each of location.phases, in ascending order.
std::vector<std::vector<IterationRange>> chosen_iterations(const Profile& profile, const TableChoice& choice, const Location& location) {
    if (choice.iterations) return iterations_within(location, phase_of_choice(profile, choice), *choice.iterations);
    std::vector<std::vector<IterationRange>> chosen;
    for (const PhaseData& data : location.phases) {
        const Phase& phase = profile.phases[data.phase];
        chosen.emplace_back();
        if (phase.kind == PhaseKind::Iterations && (!choice.has_phase || phase.is_called(choice.phase)) && !data.iteration_ns.empty())
            chosen.back().push_back({0, data.iteration_ns.size() - 1});
    }
    return chosen;
}

class Events {
  public:
    Events(const Profile& profile, const ExportRequest& request, Sink& sink)
        : profile_(profile), request_(request), sink_(sink), axis_(profile), kept_(profile, request.choice, axis_), rows_(metric_rows(profile)) {
        rows_of_choice(profile, request.choice); // says when there is none of a name
    }

    void begin(const Location& location) {
        if (location.thread != 0 && location.rank == rank_) return;
        rank_ = location.rank;
        add({{"ph", "M"}, {"pid", rank_}, {"name", "process_name"}, {"args", {{"name", fmt::format("rank {}", rank_)}}}});
        add({{"ph", "M"}, {"pid", rank_}, {"name", "process_sort_index"}, {"args", {{"sort_index", rank_}}}});
    }

    /// The sums of call paths, each below its caller. Phases are below the function that they lie in.
    void add_call_paths(const Location& location, const CallTable& table, std::size_t index) {
        const std::uint64_t row = row_of(location, profile_.phases.size());
        name_row(location, row, "call paths: sums, in no order of time");
        const std::vector<std::uint64_t> all = table.inclusive(index, 0);
        std::vector<std::uint64_t> own = table.exclusive(index, 0);
        for (std::size_t n = 1; n < own.size(); ++n)
            if (table.nodes[n].kind == TableNode::Iterations) // the one for all iterations: the phase says the same
                own[table.nodes[n].parent] += own[n];
        std::vector<std::uint64_t> begins(table.nodes.size()), next(table.nodes.size());
        for (const std::uint32_t n : pre_order(table)) {
            const CallTable::Node& node = table.nodes[n];
            if (n != 0) {
                begins[n] = next[node.parent];
                next[node.parent] += all[n];
            }
            next[n] = begins[n];
            if (all[n] == 0 || node.kind == TableNode::Iterations) continue;
            add({{"ph", "X"},
                 {"pid", location.rank},
                 {"tid", row},
                 {"ts", microseconds(begins[n])},
                 {"dur", microseconds(all[n])},
                 {"name", node.kind == TableNode::Phase ? "phase " + node.name : node.name},
                 {"cat", name_of(node.kind)},
                 {"args", {{"ns", all[n]}, {"own_ns", own[n]}}}});
        }
    }

    void add_iterations(const Location& location) {
        const std::vector<std::vector<std::uint64_t>> begins = iteration_begins(location);
        const auto chosen = chosen_iterations(profile_, request_.choice, location);
        const std::uint64_t begin = is_on_axis(location) ? first_ : first_begin(location, chosen, begins);
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (!chosen[i].empty()) add_iterations(location, location.phases[i], chosen[i], begins[i], begin);
    }

    /// The most frequent orders of events, one after the other; their times are means.
    void add_typical_iterations(const Location& location) {
        for (const PhaseData& data : location.phases) {
            const Phase& phase = profile_.phases[data.phase];
            if (!data.sequences || (request_.choice.has_phase && !phase.is_called(request_.choice.phase))) continue;
            std::vector<const EventSequence*> orders;
            for (const EventSequence& sequence : data.sequences->sequences)
                if (sequence.has_timeline) orders.push_back(&sequence);
            std::stable_sort(orders.begin(), orders.end(), [](const EventSequence* a, const EventSequence* b) { return a->iterations > b->iterations; });
            if (orders.size() > most_orders) orders.resize(most_orders);
            const std::uint64_t row = row_of(location, data.phase) + profile_.phases.size() + 1;
            if (!orders.empty()) name_row(location, row, phase.name + ": typical iterations, means in order");
            std::uint64_t at = 0;
            for (const EventSequence* order : orders) at += add_typical_iteration(location, row, phase.name, *order, at);
        }
    }

    /// Of a location of which nothing is known but its events, from its own first one.
    void add_kept_events(const Location& location) {
        if (kept_.slices(location) == 0) return;
        const auto row_of_events = [this](const Location& of) { return row_of(of, 0) - row_of(of, 0) % rows_of_thread() + rows_of_thread() - 1; };
        name_row(location, row_of_events(location), "events of kept iterations");
        const std::uint64_t begin = axis_.has(location.rank) ? first_ : kept_.first_begin(location);
        kept_.add(static_cast<std::size_t>(&location - profile_.locations.data()), begin, row_of_events, [this](const Json& event) { add(event); });
    }
    std::uint64_t kept_slices(const Location& location) const { return kept_.slices(location); }

    /// What the filter left out, and what limits comparisons of times.
    Remarks remarks() const {
        Remarks list = kept_.remarks();
        for (std::string& limit : axis_.limits()) list.push_back(std::move(limit));
        return list;
    }
    /// Where the first iteration of all begins. Before any are added.
    void find_first(const std::vector<const Location*>& locations) {
        for (const Location* location : locations)
            if (is_on_axis(*location))
                first_ = std::min(first_, first_begin(*location, chosen_iterations(profile_, request_.choice, *location), iteration_begins(*location)));
        for (const Location* location : locations)
            if (axis_.has(location->rank)) first_ = std::min(first_, kept_.first_begin(*location));
    }

    /// The beginning and the end of the file; between them are the events.
    void open() { out_ = "{\"traceEvents\":["; }
    void close() {
        const Json rest = {{"displayTimeUnit", "ns"},
                           {"otherData",
                            {{"exporter", "libprofile " + profile_.job.version},
                             {"command", profile_.job.command},
                             {"time", "sums end to end; iterations since the first one of all ranks, or of their thread if these cannot be compared"}}}};
        sink_.add("profile.json", out_ + "\n]," + json_text(rest).substr(1) + "\n");
    }

  private:
    bool is_on_axis(const Location& location) const { return axis_.has(location.rank) && are_begins_known(location); }

    /// On the axis; the highest number if none was chosen.
    std::uint64_t first_begin(const Location& location, const std::vector<std::vector<IterationRange>>& chosen,
                              const std::vector<std::vector<std::uint64_t>>& begins) const {
        std::uint64_t first = ~std::uint64_t{0};
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (!chosen[i].empty()) first = std::min(first, axis_.at(location.rank, begins[i][chosen[i].front().first]));
        return first;
    }

    void add(const Json& event) {
        out_ += (is_first_ ? "\n" : ",\n") + json_text(event);
        is_first_ = false;
        if (out_.size() < 1 << 20) return;
        sink_.add("profile.json", out_);
        out_.clear();
    }

    /// A row for each phase of each thread and one for the call paths; then as many for typical iterations, and one for events.
    std::uint64_t rows_of_thread() const { return 2 * (profile_.phases.size() + 1) + 1; }
    std::uint64_t row_of(const Location& location, std::uint64_t number) const {
        return std::uint64_t{location.thread} * rows_of_thread() + (number + 1) % (profile_.phases.size() + 1);
    }

    /// Returns how long it is.
    std::uint64_t add_typical_iteration(const Location& location, std::uint64_t row, const std::string& phase, const EventSequence& order, std::uint64_t at) {
        const auto ns = [](double mean) { return static_cast<std::uint64_t>(std::llround(mean)); };
        std::vector<SequenceEvent> events = order.events;
        std::stable_sort(events.begin(), events.end(), [](const SequenceEvent& a, const SequenceEvent& b) {
            return a.begin_sum != b.begin_sum ? a.begin_sum < b.begin_sum : a.length_sum > b.length_sum; // what lies inside another one comes after it
        });
        std::uint64_t end = 0;
        for (const SequenceEvent& event : events) end = std::max(end, ns(order.mean_begin(event)) + ns(order.mean_length(event)));
        const auto slice = [&](std::uint64_t begin, std::uint64_t length, std::string name, const char* category, Json args) {
            args["ns"] = length;
            add({{"ph", "X"},
                 {"pid", location.rank},
                 {"tid", row},
                 {"ts", microseconds(at + begin)},
                 {"dur", microseconds(length)},
                 {"name", std::move(name)},
                 {"cat", category},
                 {"args", std::move(args)}});
        };
        slice(0, end, fmt::format("{}: {} iteration{}", phase, order.iterations, order.iterations == 1 ? "" : "s"), "order",
              {{"iterations", order.iterations}});
        for (const SequenceEvent& event : events) {
            if (event.is_inner && event.phase == SequenceEvent::none) continue;
            slice(ns(order.mean_begin(event)), ns(order.mean_length(event)),
                  event.is_inner ? "phase " + profile_.phases[event.phase].name : label_of(profile_, profile_.paths[event.path]).name, "typical",
                  {{"count", event.count}, {"latest_begin_ns", event.begin_most}, {"longest_ns", event.length_most}});
        }
        return end;
    }

    void name_row(const Location& location, std::uint64_t row, const std::string& name) {
        add({{"ph", "M"},
             {"pid", location.rank},
             {"tid", row},
             {"name", "thread_name"},
             {"args", {{"name", location.thread == 0 ? name : fmt::format("{} (thread {})", name, location.thread)}}}});
        add({{"ph", "M"}, {"pid", location.rank}, {"tid", row}, {"name", "thread_sort_index"}, {"args", {{"sort_index", row}}}});
    }

    void add_iterations(const Location& location, const PhaseData& data, const std::vector<IterationRange>& chosen, const std::vector<std::uint64_t>& begins,
                        std::uint64_t begin) {
        const std::string& phase = profile_.phases[data.phase].name;
        const std::uint64_t row = row_of(location, data.phase);
        const RowsInside inside = request_.choice.exclusive ? RowsInside() : rows_inside(profile_, location, data);
        const std::vector<std::uint32_t>& kinds = kinds_of(location, data);
        const std::vector<std::string> clusters = cluster_names(data, kinds);
        name_row(location, row, phase);
        std::optional<SeriesReader> reader;
        if (data.series) reader.emplace(*data.series, false);
        auto part = chosen.begin();
        for (std::uint64_t i = 0; i <= chosen.back().last; ++i) {
            const bool known = reader && reader->next() && reader->has_totals() && inside.is_told(i);
            while (part->last < i) ++part;
            if (i < part->first) continue;
            MetricValues values;
            if (known) {
                values.assign(reader->condensed().begin(), reader->condensed().end());
                if (!inside.rows.empty()) tools::add(values, inside.rows[i]);
            }
            const std::uint64_t at = axis_.at(location.rank, begins[i]) - begin, end = axis_.at(location.rank, begins[i] + data.iteration_ns[i]) - begin;
            const std::uint32_t cluster = data.cluster_of_iteration[i];
            const bool rest = cluster >= data.clusters.size();
            Json args = {{"iteration", i + 1}, {"cluster", rest ? Json() : Json(clusters[cluster])}, {"ns", data.iteration_ns[i]}};
            if (known) add_metrics(values, args);
            add({{"ph", "X"},
                 {"pid", location.rank},
                 {"tid", row},
                 {"ts", microseconds(at)},
                 {"dur", microseconds(end - at)},
                 {"name", rest ? fmt::format("{} (no cluster)", phase) : fmt::format("{} cluster {}", phase, clusters[cluster])},
                 {"cat", "iteration"},
                 {"cname", rest ? "grey" : colour(kinds[cluster])},
                 {"args", std::move(args)}});
            if (known && counters())
                add({{"ph", "C"},
                     {"pid", location.rank},
                     {"ts", microseconds(at)},
                     {"name", fmt::format("MPI share of {}, %", phase)},
                     {"args", {{"percent", mpi_percent(values)}}}});
        }
    }

    /// By cluster, as in the report, whatever ranks were chosen.
    const std::vector<std::uint32_t>& kinds_of(const Location& location, const PhaseData& data) {
        std::map<const Location*, std::vector<std::uint32_t>>& kinds = kinds_[data.phase];
        if (kinds.empty()) {
            std::vector<const Location*> all;
            for (const Location& one : profile_.locations) all.push_back(&one);
            std::vector<std::vector<std::uint32_t>> found = kinds_of_clusters(profile_, all, data.phase);
            for (std::size_t l = 0; l < all.size(); ++l) kinds.emplace(all[l], std::move(found[l]));
        }
        return kinds.at(&location);
    }

    bool counters() const { return request_.choice.metrics.empty(); }

    static std::uint64_t mpi_percent(const std::vector<std::uint64_t>& values) {
        const std::uint64_t total = values[static_cast<std::size_t>(CatalogueId::Total)];
        return total == 0 ? 0 : 100 * std::min(total, values[static_cast<std::size_t>(CatalogueId::Mpi)]) / total;
    }

    void add_metrics(const std::vector<std::uint64_t>& values, Json& args) const {
        const std::vector<std::string>& names = request_.choice.metrics;
        for (std::size_t r = 0; r < values.size(); ++r) {
            const bool chosen = names.empty() ? rows_[r].parent < 0 || rows_[r].name == "mpi"
                                              : names[0] == "all" || std::find(names.begin(), names.end(), rows_[r].name) != names.end();
            if (chosen && values[r] != 0) args[rows_[r].name] = values[r];
        }
    }

    const Profile& profile_;
    const ExportRequest& request_;
    Sink& sink_;
    ClockAxis axis_;
    ChromeEvents kept_;
    std::uint64_t first_ = ~std::uint64_t{0}; // where the picture begins, on the axis
    std::vector<MetricRow> rows_;
    std::map<std::uint32_t, std::map<const Location*, std::vector<std::uint32_t>>> kinds_; // of clusters, by phase
    std::string out_;
    bool is_first_ = true;
    std::uint32_t rank_ = no_rank;
};

/// Said before anything is written: there are too many.
std::uint64_t count_iterations(const Profile& profile, const TableChoice& choice, const std::vector<const Location*>& locations) {
    std::uint64_t count = 0;
    for (const Location* location : locations)
        for (const std::vector<IterationRange>& ranges : chosen_iterations(profile, choice, *location))
            for (const IterationRange& range : ranges) count += range.last - range.first + 1;
    if (count > most_slices)
        throw ExportError(fmt::format("{} iterations are more than the {} that a browser opens; choose ranks with --rank or iterations with --iterations",
                                      count, most_slices));
    return count;
}

} // namespace

Remarks write_chrome(const Profile& profile, const ExportRequest& request, Sink& sink) {
    const TableChoice& choice = request.choice;
    if (choice.has_phase || choice.iterations) phase_of_choice(profile, choice); // says when there is none
    const std::vector<const Location*> locations = locations_of_choice(profile, choice);
    Events events(profile, request, sink);
    std::uint64_t slices = count_iterations(profile, choice, locations);
    TableChoice sums = choice;
    sums.metrics = {"time"};
    sums.short_names = true;
    sums.instances = 1;
    const CallTable table = make_call_table(profile, sums);
    Remarks remarks = {slices == 0 ? "there are no iterations to show: mark the loop in the program (docs/getting-started.md) or choose others"
                                   : "time counts from the first iteration; iterations of an inner loop are in a row of their own below"};
    for (const std::string& limit : events.remarks()) remarks.push_back(limit);
    const auto unknown = std::count_if(locations.begin(), locations.end(), [](const Location* location) { return !are_begins_known(*location); });
    if (unknown != 0)
        remarks.push_back(fmt::format("the profile does not say when the iterations of {} of {} ranks and threads began: they are laid end to end", unknown,
                                      locations.size()));
    std::size_t with_paths = 0, with_events = 0;
    events.open();
    events.find_first(locations);
    for (std::size_t l = 0; l < locations.size(); ++l) {
        events.begin(*locations[l]);
        slices += table.nodes.size();
        if (slices <= most_slices) {
            events.add_call_paths(*locations[l], table, l);
            ++with_paths;
        }
        events.add_iterations(*locations[l]);
        events.add_typical_iterations(*locations[l]);
        slices += events.kept_slices(*locations[l]);
        if (slices <= most_slices) {
            events.add_kept_events(*locations[l]);
            ++with_events;
        }
    }
    events.close();
    if (with_events < locations.size())
        remarks.push_back(fmt::format("only the first {} of {} ranks and threads have their events, so that a browser can open the file; choose others with "
                                      "--rank, or iterations with --iterations",
                                      with_events, locations.size()));
    if (with_paths < locations.size())
        remarks.push_back(
            fmt::format("only the first {} of {} ranks and threads have their call paths, so that a browser can open the file; choose others with --rank",
                        with_paths, locations.size()));
    return remarks;
}

} // namespace libprofile::tools
