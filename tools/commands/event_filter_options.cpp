#include "tools/commands/event_filter_options.hpp"

#include "tools/commands/command.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/nearest.hpp"
#include "tools/text/number_list.hpp"

#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace libprofile::tools {

namespace {

/// "1.5ms" in ns, and "1.5 ms"; without a unit: us, as in the page.
std::uint64_t filter_time(const char* option, const std::string& text) {
    constexpr std::pair<const char*, double> units[] = {{"", 1e3}, {"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
    std::string unit = text.substr(end);
    unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? 0 : unit.find_first_not_of(' '));
    double number = 0;
    if (end != 0 && CLI::detail::lexical_cast(text.substr(0, end), number) && number < 1e9)
        for (const auto& [name, ns] : units)
            if (unit == name) return static_cast<std::uint64_t>(std::llround(number * ns));
    throw UsageError(fmt::format("{} {} is no time; write one such as 1.5ms, 20us or 3s", option, printable(text)));
}

std::vector<std::uint32_t> filter_list(const char* option, const std::string& text) {
    if (text.empty()) return {};
    if (auto list = parse_number_list(text)) return *std::move(list);
    throw UsageError(fmt::format("{} {} is not a list of numbers; write them like 0,4-7", option, printable(text)));
}

} // namespace

void EventFilterOptions::declare(CLI::App& app) {
    for (const auto& [name, value] : {std::pair("--only", &only_),
                                      {"--with", &with_},
                                      {"--inside", &inside_},
                                      {"--from", &from_},
                                      {"--to", &to_},
                                      {"--thread", &threads_},
                                      {"--processor", &processors_},
                                      {"--node", &nodes_},
                                      {"--reads", &reads_},
                                      {"--writes", &writes_}})
        options_.push_back(app.add_option(name, *value));
}

std::string EventFilterOptions::given() const {
    for (const CLI::Option* option : options_)
        if (option->count() != 0) return option->get_name();
    return "";
}

EventFilter EventFilterOptions::filter() const {
    EventFilter filter;
    const std::vector<std::string> kinds = {"", "calls", "tasks", "regions"};
    const auto kind = std::find(kinds.begin(), kinds.end(), only_);
    if (kind == kinds.end()) {
        const std::string near = nearest_name(only_, {kinds.begin() + 1, kinds.end()});
        throw UsageError(fmt::format("--only {}: there are calls, tasks and regions{}", printable(only_), near.empty() ? "" : "; did you mean " + near + "?"));
    }
    filter.only = static_cast<EventFilter::Kind>(kind - kinds.begin());
    filter.with = with_;
    filter.inside = inside_;
    if (!from_.empty()) filter.least_ns = filter_time("--from", from_);
    if (!to_.empty()) filter.most_ns = filter_time("--to", to_);
    if (filter.least_ns > filter.most_ns) throw UsageError(fmt::format("--from {} is longer than --to {}", from_, to_));
    filter.threads = filter_list("--thread", threads_);
    filter.processors = filter_list("--processor", processors_);
    filter.nodes = filter_list("--node", nodes_);
    filter.reads = filter_list("--reads", reads_);
    filter.writes = filter_list("--writes", writes_);
    if (filter.only != EventFilter::Kind::All && filter.only != EventFilter::Kind::Tasks && (!reads_.empty() || !writes_.empty()))
        throw UsageError("--reads and --writes are of tasks; leave out --only " + only_);
    return filter;
}

} // namespace libprofile::tools
