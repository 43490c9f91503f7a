#include "tools/timeline/duration_series.hpp"

#include "tools/analysis/correlation.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace libprofile::tools {

namespace {

/// What one call exchanged.
struct CallBytes {
    double bytes = 0;
    std::optional<std::uint32_t> partner; // of all its messages
};

CallBytes bytes_of(std::span<const TracedMessage> messages) {
    CallBytes call;
    call.partner = messages.front().partner;
    for (const TracedMessage& message : messages) {
        call.bytes += static_cast<double>(message.bytes);
        if (message.partner != call.partner) call.partner = std::nullopt;
    }
    if (call.partner == TracedMessage::unknown_rank) call.partner = std::nullopt;
    return call;
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

} // namespace

std::vector<DurationSeries> bytes_of_calls(const Profile& profile, std::span<const std::uint32_t> ranks, const std::function<bool(const EventPart&)>& is_chosen,
                                           const PassingEvents& passing) {
    using Key = std::tuple<std::string, std::optional<std::uint32_t>, std::optional<std::uint32_t>>; // all calls of a function come first
    std::map<Key, DurationSeries> found;
    const auto add = [&](const Key& key, double duration, double bytes) {
        DurationSeries& series = found[key];
        series.durations_ns.push_back(duration);
        series.amounts.push_back(bytes);
    };
    for (const Location& location : profile.locations) {
        if (!ranks.empty() && !std::binary_search(ranks.begin(), ranks.end(), location.rank)) continue;
        const KeptEvents& events = location.events;
        for (const EventPart& part : events.parts) {
            if (!is_chosen(part)) continue;
            for (std::uint32_t first = part.messages_at, next = first; first < part.messages_at + part.messages; first = next) {
                const std::uint32_t at = events.messages[first].interval;
                while (next < part.messages_at + part.messages && events.messages[next].interval == at) ++next;
                if (!passing.interval(static_cast<std::size_t>(&location - profile.locations.data()), at)) continue;
                const TracedInterval& interval = events.intervals[at];
                const CallBytes call = bytes_of(std::span(events.messages).subspan(first, next - first));
                const std::string function = label_of(profile, profile.paths[interval.path]).name;
                const auto duration = static_cast<double>(interval.end_ns - std::min(interval.begin_ns, interval.end_ns));
                add({function, {}, {}}, duration, call.bytes);
                if (call.partner) add({function, location.rank, call.partner}, duration, call.bytes);
            }
        }
    }
    std::map<std::string, double> time;
    std::map<std::string, std::size_t> pairs;
    std::vector<DurationSeries> list;
    for (auto& [key, series] : found) {
        std::tie(series.group, series.rank, series.partner) = key;
        series.amount = series.unit = "bytes";
        if (series.rank)
            ++pairs[series.group];
        else
            time[series.group] = sum_of(series.durations_ns);
        list.push_back(std::move(series));
    }
    std::erase_if(list, [&](const DurationSeries& series) { return series.rank && pairs[series.group] < 2; });
    std::stable_sort(list.begin(), list.end(), [&](const DurationSeries& a, const DurationSeries& b) {
        return a.group != b.group && std::pair(time[a.group], b.group) > std::pair(time[b.group], a.group);
    });
    return list;
}

DurationFit duration_fit(const DurationSeries& series) {
    DurationFit fit;
    fit.count = series.amounts.size();
    fit.time_ns = sum_of(series.durations_ns);
    if (fit.count == 0) return fit;
    const auto [least, most] = std::minmax_element(series.amounts.begin(), series.amounts.end());
    std::tie(fit.least, fit.most) = std::tuple(*least, *most);
    fit.pearson = pearson(series.amounts, series.durations_ns);
    fit.r_squared = fit.pearson * fit.pearson;
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    const FittedLine line = fit.least == fit.most ? FittedLine{unknown, unknown, unknown} : regression(series.amounts, series.durations_ns);
    fit.slope_ns = line.slope;
    fit.slope_error_ns = 1.96 * line.slope_error;
    fit.intercept_ns = line.intercept;
    return fit;
}

} // namespace libprofile::tools
