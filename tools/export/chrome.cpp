// Trace events in JSON ("Trace Event Format"), what Perfetto and chrome://tracing open: the iterations of every phase and rank, with
// their clusters, exact times and metrics.
// The profile has how long iterations took, not when they began: they are laid end to end, in ts and dur of microseconds.
#include "tools/export/formats.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t most_iterations = 500'000; // about 200 MB; browsers open no more

double microseconds(std::uint64_t ns) {
    return static_cast<double>(ns) / 1e3;
}

/// Names of colours that the format knows, by cluster: the same cluster has the same colour on a rank.
const char* colour(std::uint32_t cluster, bool rest) {
    constexpr const char* names[] = {"thread_state_running",
                                     "rail_response",
                                     "rail_animation",
                                     "rail_idle",
                                     "rail_load",
                                     "thread_state_runnable",
                                     "thread_state_iowait",
                                     "startup",
                                     "heap_dump_stack_frame",
                                     "good",
                                     "bad",
                                     "terrible"};
    return rest ? "grey" : names[cluster % std::size(names)];
}

class Events {
  public:
    Events(const Profile& profile, const ExportRequest& request)
        : profile_(profile), request_(request), rows_(metric_rows(profile)) {
        for (const std::string& name : request.choice.metrics)
            if (name != "all" && std::none_of(rows_.begin(), rows_.end(),
                                              [&](const MetricRow& row) { return row.name == name; }))
                throw ExportError(fmt::format(
                    "there is no metric \"{}\"; docs/metrics.md lists them, for instance time, visits, bytes",
                    name));
    }

    void add(const Location& location) {
        const std::uint32_t process = location.rank;
        list.push_back({{"ph", "M"},
                        {"pid", process},
                        {"name", "process_name"},
                        {"args", {{"name", fmt::format("rank {}", location.rank)}}}});
        list.push_back({{"ph", "M"},
                        {"pid", process},
                        {"name", "process_sort_index"},
                        {"args", {{"sort_index", location.rank}}}});
        for (const PhaseData& data : location.phases)
            if (profile_.phases[data.phase].kind == PhaseKind::Iterations &&
                (!request_.choice.has_phase || profile_.phases[data.phase].is_called(request_.choice.phase)))
                add(location, data);
    }

    Json list = Json::array();
    std::uint64_t iterations = 0;

  private:
    void add(const Location& location, const PhaseData& data) {
        const std::string& phase = profile_.phases[data.phase].name;
        const IterationRange range = request_.choice.iterations.value_or(IterationRange{});
        // A row for each phase of each thread: iterations of nested loops would not nest end to end.
        const std::uint64_t row = std::uint64_t{location.thread} * profile_.phases.size() + data.phase;
        list.push_back(
            {{"ph", "M"},
             {"pid", location.rank},
             {"tid", row},
             {"name", "thread_name"},
             {"args",
              {{"name",
                location.thread == 0 ? phase : fmt::format("{} (thread {})", phase, location.thread)}}}});
        std::optional<SeriesReader> reader;
        if (data.series)
            reader.emplace(*data.series, false);
        std::uint64_t at = 0;
        const std::size_t all = std::min(data.iteration_ns.size(), data.cluster_of_iteration.size());
        for (std::size_t i = 0; i < all && i <= range.last; ++i) {
            const bool known = reader && reader->next() && reader->has_totals();
            if (i < range.first)
                continue;
            const std::uint32_t cluster = data.cluster_of_iteration[i];
            const bool rest = cluster >= data.clusters.size();
            Json args = {{"iteration", i + 1},
                         {"cluster", rest ? Json() : Json(cluster)},
                         {"ns", data.iteration_ns[i]}};
            if (known)
                add_metrics(reader->condensed(), args);
            list.push_back({{"ph", "X"},
                            {"pid", location.rank},
                            {"tid", row},
                            {"ts", microseconds(at)},
                            {"dur", microseconds(data.iteration_ns[i])},
                            {"name", rest ? fmt::format("{} (no cluster)", phase)
                                          : fmt::format("{} cluster {}", phase, cluster)},
                            {"cat", "iteration"},
                            {"cname", colour(cluster, rest)},
                            {"args", std::move(args)}});
            if (known && counters())
                list.push_back({{"ph", "C"},
                                {"pid", location.rank},
                                {"ts", microseconds(at)},
                                {"name", fmt::format("MPI share of {}, %", phase)},
                                {"args", {{"percent", mpi_percent(reader->condensed())}}}});
            at += data.iteration_ns[i];
            if (++iterations > most_iterations)
                throw ExportError(
                    fmt::format("more than {} iterations, which no browser opens; choose ranks with --rank "
                                "or iterations with --iterations",
                                most_iterations));
        }
    }

    bool counters() const { return request_.choice.metrics.empty(); }

    static std::uint64_t mpi_percent(const std::vector<std::uint64_t>& values) {
        const std::uint64_t total = values[static_cast<std::size_t>(CatalogueId::Total)];
        return total == 0 ? 0
                          : 100 * std::min(total, values[static_cast<std::size_t>(CatalogueId::Mpi)]) / total;
    }

    void add_metrics(const std::vector<std::uint64_t>& values, Json& args) const {
        const std::vector<std::string>& names = request_.choice.metrics;
        for (std::size_t r = 0; r < values.size(); ++r) {
            const bool chosen = names.empty() ? rows_[r].parent < 0 || rows_[r].name == "mpi"
                                              : names[0] == "all" || std::find(names.begin(), names.end(),
                                                                               rows_[r].name) != names.end();
            if (chosen && values[r] != 0)
                args[rows_[r].name] = values[r];
        }
    }

    const Profile& profile_;
    const ExportRequest& request_;
    std::vector<MetricRow> rows_;
};

} // namespace

Remarks write_chrome(const Profile& profile, const ExportRequest& request, Sink& sink) {
    if (request.choice.has_phase || request.choice.iterations)
        phase_of_choice(profile, request.choice); // says when there is none
    Events events(profile, request);
    for (const Location* location : locations_of_choice(profile, request.choice))
        events.add(*location);
    if (events.iterations == 0)
        throw ExportError("there are no iterations to show; mark the loop in the program "
                          "(docs/getting-started.md) or choose others");
    const Json document = {{"traceEvents", std::move(events.list)},
                           {"displayTimeUnit", "ns"},
                           {"otherData",
                            {{"exporter", "libprofile " + profile.job.version},
                             {"command", profile.job.command},
                             {"time", "iterations end to end; not when they began"}}}};
    sink.add("profile.json", document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    return {"the profile has no times of begin: iterations are laid end to end, loops inside loops in rows "
            "of their own"};
}

} // namespace libprofile::tools
