#include "tools/view/counter_columns.hpp"

#include "tools/reader/counters.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace libprofile::tools {

namespace {

using Readings = std::vector<std::pair<std::uint64_t, std::uint64_t>>; // ns of the rank's clock, value

/// Of a location, by counter of its rank.
std::map<std::uint8_t, Readings> readings_of(const KeptEvents& events, const std::vector<bool>& is_in) {
    std::map<std::uint8_t, Readings> of;
    for (std::size_t p = 0; p < events.parts.size(); ++p) {
        if (!is_in[p]) continue;
        const EventPart& part = events.parts[p];
        for (std::uint32_t i = part.counts_at; i < part.counts_at + part.counts; ++i) {
            const TracedCount& count = events.counts[i];
            Readings& list = of[count.counter];
            const auto [begin, end] = times_of(events, count);
            list.emplace_back(begin, count.begin);
            list.emplace_back(end, count.end);
        }
    }
    for (auto& [counter, list] : of) { // values grow with time
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return of;
}

} // namespace

CounterColumns::CounterColumns(const Profile& profile, const ChosenParts& parts, NamedColumns& columns) : counts_(profile.locations.size()) {
    std::map<std::string, std::uint64_t> known;
    const auto number_of = [&](const std::string& name) {
        const auto [at, is_new] = known.try_emplace(name, known.size());
        if (is_new) counters_.push_back({{"name", name}, {"unit", counter_unit(profile, name)}});
        return at->second;
    };
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& location = profile.locations[l];
        if (location.events.counts.empty()) continue;
        const std::vector<std::string> names = counter_names(profile, location.rank);
        for (const auto& [counter, list] : readings_of(location.events, parts.is_in[l])) {
            if (counter >= names.size()) continue;
            const std::uint64_t number = number_of(names[counter]);
            NumberColumn &counters = columns.column("counts", "counters"), &gaps = columns.column("counts", "gaps"),
                         &increases = columns.column("counts", "increases");
            std::uint64_t time = 0, value = list.front().second;
            for (const auto& [ns, reading] : list) {
                counters.add(number);
                gaps.add(ns - time); // of the first one: since the clock began
                increases.add(reading - std::min(value, reading));
                std::tie(time, value) = std::pair(ns, std::max(value, reading));
                ++counts_[l];
            }
        }
    }
}

} // namespace libprofile::tools
