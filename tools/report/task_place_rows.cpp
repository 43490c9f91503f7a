#include "tools/report/task_place_rows.hpp"

#include "tools/report/task_words.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>

namespace libprofile::tools {

ReportValue remote_share(const TaskPlaces::Sums& sums) {
    if (sums.known() == 0) return sums.unknown == 0 ? ReportValue() : ReportValue(NotKnown{});
    return task_share(sums.remote, sums.known());
}

ReportValue mean_distance(const TaskPlaces::Sums& sums) {
    if (sums.known() == 0) return remote_share(sums);
    const std::optional<double> distance = sums.mean_distance();
    return distance ? ReportValue(*distance) : ReportValue(NotKnown{});
}

std::vector<ReportColumn> node_columns() {
    return {{"task_node", "tasks on node", ColumnUnit::Number},
            {"data_node", "data on node", ColumnUnit::Number},
            {"reads", "reads", ColumnUnit::Count},
            {"writes", "writes", ColumnUnit::Count},
            {"share", "share", ColumnUnit::Share},
            {"distance", "distance", ColumnUnit::Ratio}};
}

std::vector<std::vector<ReportValue>> node_rows(const TaskPlaces& places) {
    std::uint64_t all = 0;
    for (const TaskPlaces::Cell& cell : places.matrix) all += cell.reads + cell.writes;
    std::vector<std::vector<ReportValue>> rows;
    for (const TaskPlaces::Cell& cell : places.matrix)
        rows.push_back({std::uint64_t{cell.worker}, std::uint64_t{cell.data}, cell.reads, cell.writes, task_share(cell.reads + cell.writes, all),
                        cell.distance ? ReportValue(*cell.distance) : ReportValue(NotKnown{})});
    return rows;
}

std::vector<ReportColumn> access_columns() {
    return {{"thread", "thread", ColumnUnit::Number},  {"local", "local", ColumnUnit::Count},        {"remote", "remote", ColumnUnit::Count},
            {"unknown", "unknown", ColumnUnit::Count}, {"remote_share", "share", ColumnUnit::Share}, {"distance", "distance", ColumnUnit::Ratio}};
}

std::vector<std::vector<ReportValue>> access_rows(const Profile& profile, const TaskPlaces& places) {
    std::vector<std::vector<ReportValue>> rows;
    for (const TaskPlaces::Thread& thread : places.threads)
        rows.push_back({std::uint64_t{profile.locations[thread.location].thread}, thread.sums.local, thread.sums.remote, thread.sums.unknown,
                        remote_share(thread.sums), mean_distance(thread.sums)});
    return rows;
}

std::vector<std::string> place_sentences(const TaskPlaces& places) {
    constexpr double told_remote_share = 0.1;
    const double share = task_share(places.all.remote, places.all.known());
    if (!places.has_several_nodes() || share < told_remote_share) return {};
    const auto worst = std::max_element(places.threads.begin(), places.threads.end(), [](const TaskPlaces::Thread& a, const TaskPlaces::Thread& b) {
        return task_share(a.sums.remote, a.sums.known()) < task_share(b.sums.remote, b.sums.known());
    });
    const double most = task_share(worst->sums.remote, worst->sums.known());
    const std::optional<double> distance = places.all.mean_distance();
    return {fmt::format("{} of the accesses by depend clauses are to memory of another NUMA node{}{}; data that are initialised by the threads that use them, "
                        "and threads that stay where they are (OMP_PROC_BIND), make it less",
                        percent(share), places.threads.size() > 1 ? fmt::format(", on one thread {}", percent(most)) : "",
                        distance ? fmt::format("; the mean distance of all is {:.3g} times that of a node's own memory", *distance) : "")};
}

std::vector<std::string> missing_pages(const RankInfo& rank, const std::string& where) {
    if (!rank.pages || !rank.affinity || rank.affinity->machine.numa_nodes < 2) return {};
    std::vector<std::string> sentences;
    const PageNodes& pages = *rank.pages;
    if (pages.error != 0) {
        const bool is_forbidden = pages.error == EPERM || pages.error == ENOSYS;
        sentences.push_back(fmt::format("{}: the kernel did not tell on which NUMA nodes data lie (move_pages: {}){}", where,
                                        std::strerror(static_cast<int>(pages.error)),
                                        is_forbidden ? "; containers often forbid it: add CAP_SYS_NICE, or permit the call in their seccomp profile" : ""));
    } else if (pages.unknown != 0) {
        sentences.push_back(fmt::format("{}: {} of addresses in depend clauses were not in memory when the kernel was asked for their nodes", where,
                                        plural(pages.unknown, "page")));
    }
    if (pages.left_out != 0)
        sentences.push_back(
            fmt::format("{}: {} are on more pages than are remembered; their nodes are not known", where, plural(pages.left_out, "depend clause")));
    return sentences;
}

} // namespace libprofile::tools
