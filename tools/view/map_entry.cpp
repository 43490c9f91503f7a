#include "tools/view/map_entry.hpp"

namespace libprofile::tools {

NumberColumn value_column(const std::vector<std::uint64_t>& values) {
    NumberColumn column;
    for (const std::uint64_t v : values) column.add(v == no_value ? 0 : v + 1);
    return column;
}

nlohmann::ordered_json map_entry(const MapValues& map, const QuantizedMap& levels, std::size_t iterations, bool with_values, Sections& sections) {
    nlohmann::ordered_json entry = {
        {"name", map.metric.name}, {"label", map.metric.label}, {"unit", map.metric.unit}, {"description", map.metric.description},
        {"exact", map.exact},      {"told", map.is_told},       {"bounds", levels.bounds}, {"levels", sections.add_compressed(levels.deltas)}};
    const MapSpread spread = spread_over_ranks(map.values, iterations);
    entry["spread"] = {{"minimum", sections.add(spread.minimum)}, {"twice_median", sections.add(spread.twice_median)},
                       {"maximum", sections.add(spread.maximum)}, {"sum", sections.add(spread.sum)},
                       {"slowest", sections.add(spread.slowest)}, {"ranks", sections.add(spread.ranks)}};
    if (with_values) entry["values"] = sections.add(value_column(map.values));
    return entry;
}

} // namespace libprofile::tools
