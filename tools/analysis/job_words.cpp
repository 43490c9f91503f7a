#include "tools/analysis/job_words.hpp"

#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <map>

namespace libprofile::tools {

namespace {

std::string host_list(const Profile& profile) {
    std::map<std::string, int> hosts;
    for (const auto& [rank, info] : profile.ranks) ++hosts[printable(info.host)];
    if (hosts.size() == 1) return hosts.begin()->first;
    constexpr std::size_t shown = 3;
    std::string out;
    std::size_t n = 0;
    for (const auto& [host, ranks] : hosts) {
        if (n++ == shown) return fmt::format("{} and {} more hosts", out, hosts.size() - shown);
        out += fmt::format("{}{} ({})", out.empty() ? "" : ", ", host, ranks);
    }
    return out;
}

std::string start_text(const Profile& profile) {
    const std::time_t start = static_cast<std::time_t>(profile.job.start_unix_ns / 1000000000u);
    std::tm local{};
    if (start == 0 || localtime_r(&start, &local) == nullptr) return "";
    return fmt::format(", started {:%Y-%m-%d %H:%M:%S}", local);
}

/// The library's own words are long and have several lines: "Open MPI v4.1.4, package: ...", "MPICH Version:\t4.0.2\n...".
std::string mpi_text(const std::string& version) {
    if (version.empty()) return "MPI unknown";
    if (version == "none") return "without MPI";
    std::string text = version.substr(0, version.find_first_of(",\n"));
    std::replace(text.begin(), text.end(), '\t', ' ');
    return printable(text);
}

} // namespace

std::string job_line(const Profile& profile, const std::vector<const Location*>& locations) {
    std::uint64_t longest = 0;
    for (const Location* location : locations)
        if (location != nullptr) longest = std::max(longest, location->wall_ns);
    std::string line = plural(profile.job.ranks, "rank");
    if (const std::string hosts = host_list(profile); !hosts.empty()) line += " on " + hosts;
    return line + fmt::format(", {}{}, ran {}", mpi_text(profile.job.mpi), start_text(profile), duration(static_cast<double>(longest), {}));
}

} // namespace libprofile::tools
