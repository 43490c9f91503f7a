#include "tools/report/task_words.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr double told_task_share = 0.1; // of the span or the tasks: what is less is in tables only
constexpr double enough_per_thread = 2; // so many tasks that can run per thread hide that they are not equal

std::string task_time(std::uint64_t ns) { return duration(static_cast<double>(ns), {}); }

/// The function with most of the span.
std::string longest_function(const Profile& profile, const TaskGraph& graph) {
    const std::vector<CriticalPlace> places = critical_places(graph);
    const auto first = std::find_if(places.begin(), places.end(), [](const CriticalPlace& place) { return !place.is_implicit; });
    if (first == places.end()) return "";
    const TaskPlace place = task_place(profile, first->path);
    return fmt::format("; {} of the span is in {}", percent(task_share(first->ns, graph.span_ns)), place_words(place.function, place.source));
}

std::string depth_sentence(const TaskGraph& graph) {
    const auto widest =
        std::max_element(graph.depths.begin(), graph.depths.end(), [](const TaskGraph::Depth& a, const TaskGraph::Depth& b) { return a.tasks < b.tasks; });
    const auto depth = static_cast<std::uint64_t>(widest - graph.depths.begin());
    if (graph.depths.size() == 1) return fmt::format("all of them could run at once: no task waits for another");
    return fmt::format("{} in the mean could run at once, over {}; at most {}, at depth {}",
                       plural((graph.complete_tasks + graph.depths.size() / 2) / graph.depths.size(), "task"), plural(graph.depths.size(), "depth"),
                       count(static_cast<double>(widest->tasks)), depth);
}

} // namespace

std::string place_words(const std::string& function, const std::string& source) {
    std::string words = printable(function);
    const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':' || c == '~'; };
    if (!words.empty() && std::all_of(words.begin(), words.end(), is_part)) words += "()";
    return source.empty() ? words : fmt::format("{} {}", words, printable(source));
}

std::string stretch_words(const TaskStretch& stretch) {
    if (stretch.kind == PartKind::Iteration) return fmt::format("iteration {}", stretch.first + 1);
    return fmt::format("{} (from {})", plural(stretch.last - stretch.first + 1, "window"), task_time(stretch.begin_ns));
}

std::vector<std::string> task_sentences(const Profile& profile, const TaskGraph& graph, const TaskTypes& types, const std::string& where) {
    std::vector<std::string> sentences;
    if (graph.complete_tasks == 0) return {fmt::format("{} has {}, of none of which all was kept", where, plural(graph.tasks.size(), "task"))};
    sentences.push_back(fmt::format("{} in {}: work {}, span {}, parallelism {:.3g}{}", plural(graph.complete_tasks, "task"), where, task_time(graph.work_ns),
                                    task_time(graph.span_ns), graph.parallelism(), longest_function(profile, graph)));
    std::uint64_t implicit = 0;
    for (const TaskGraph::Step& step : graph.critical_path) implicit += step.task == TaskGraph::none ? step.ns : 0;
    if (task_share(implicit, graph.span_ns) >= told_task_share)
        sentences.push_back(fmt::format("{} of the span is outside of tasks, such as creating them one after the other; larger tasks, or several threads that "
                                        "create them, make it shorter",
                                        percent(task_share(implicit, graph.span_ns))));
    sentences.push_back(depth_sentence(graph));
    const auto threads = static_cast<double>(graph.locations.size());
    if (graph.parallelism() < threads)
        sentences.push_back(fmt::format("{} took part, and a parallelism of {:.3g} cannot keep them busy: shorten the critical path below",
                                        plural(graph.locations.size(), "thread"), graph.parallelism()));
    else if (graph.parallelism() < enough_per_thread * threads && graph.locations.size() > 1)
        sentences.push_back(fmt::format("{} took part; a parallelism of {:.3g} keeps them busy only if they never wait for the right task",
                                        plural(graph.locations.size(), "thread"), graph.parallelism()));
    if (task_share(graph.stolen_tasks, graph.complete_tasks) >= told_task_share)
        sentences.push_back(
            fmt::format("{} of the tasks ran on another thread than the one that created them", percent(task_share(graph.stolen_tasks, graph.complete_tasks))));
    const TaskType& first = types.types.front();
    if (first.tasks != 0 && first.ready_to_begin_ns > first.median_ns)
        sentences.push_back(fmt::format("half of the tasks {} waited at least {} for a thread when they could have run, and computed at most {}",
                                        place_words(first.function, first.source), task_time(first.ready_to_begin_ns), task_time(first.median_ns)));
    return sentences;
}

std::vector<std::string> missing_tasks(const TaskGraph& graph, const std::string& where) {
    std::vector<std::string> sentences;
    const auto add = [&](std::uint64_t n, const char* what, const char* means) {
        if (n != 0) sentences.push_back(fmt::format("{}: {} {}; {}", where, plural(n, "task"), what, means));
    };
    constexpr const char* not_counted = "no number here counts them";
    add(graph.not_run, "were created and did not run in what was kept", not_counted);
    add(graph.partly_run, "ran in part outside of what was kept", not_counted);
    add(graph.created_elsewhere, "were created outside of what was kept", not_counted);
    add(graph.contradictory, "would wait for themselves, so their record is wrong", not_counted);
    add(graph.repeated, "have the number of another one, so their record is wrong", not_counted);
    add(graph.of_unknown_creators, "were created by tasks that were not kept", "they count as if these had been there from the beginning");
    add(graph.outside_regions, "lie in no parallel region that was kept to its end", "the time of creating them is in no number");
    if (graph.backward != 0) sentences.push_back(fmt::format("{}: {} end before they begin, so their record is wrong", where, plural(graph.backward, "event")));
    return sentences;
}

} // namespace libprofile::tools
