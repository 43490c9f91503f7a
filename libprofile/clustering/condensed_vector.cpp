#include "libprofile/clustering/condensed_vector.hpp"

#include "libprofile/base/function_records.hpp"

namespace libprofile {

TimeCategory category_of(const Node& node) noexcept { return is_call(node.kind) ? mpi_functions[node.a].category : category_of(node.kind); }

namespace {

constexpr auto samples = static_cast<std::size_t>(Metric::Samples); // of "(not sampled)": squares of times, not a number of samples

CondensedVector derive(const std::uint64_t* direct, const std::uint64_t* by_category, std::size_t counter_metrics) noexcept {
    CondensedVector result;
    derive_catalogue(direct, by_category, result.values);
    for (std::size_t i = 0; i < counter_metrics; ++i) result.values[catalogue_size + i] = direct[metric_count + i];
    return result;
}

} // namespace

CondensedVector condense(Accumulator& rows, const CallTree& tree, std::size_t counter_metrics) noexcept {
    std::uint64_t direct[cell_metrics] = {};
    std::uint64_t by_category[static_cast<std::size_t>(TimeCategory::Count)] = {};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        by_category[static_cast<std::size_t>(category_of(tree[row.node]))] += row[Metric::Time];
        for (std::size_t m = 0; m < metric_count + counter_metrics; ++m) direct[m] += row.values[m];
        if (row.node == tree.not_sampled()) direct[samples] -= row[Metric::Samples];
    }
    return derive(direct, by_category, counter_metrics);
}

namespace {

/// Calls visit(cell) for the event cells.
template <class Visit>
inline CondensedVector condense_and(const IterationProfile& profile, const CallTree& tree, std::size_t counter_metrics, Visit visit) noexcept {
    std::uint64_t direct[cell_metrics] = {};
    std::uint64_t by_category[static_cast<std::size_t>(TimeCategory::Count)] = {};
    const Cell* cell = profile.cells;
    const Cell* const end = cell + profile.size;
    while (cell != end) {
        const NodeId id = cell->node();
        const Node& node = tree[id];
        const bool is_event = counts_for_structure(node.kind);
        if (cell->metric() == static_cast<std::uint32_t>(Metric::Time)) // a node's first
            by_category[static_cast<std::size_t>(category_of(node))] += cell->value;
        const std::uint64_t samples_before = direct[samples];
        for (const std::uint32_t next_node = Cell::make_key(id + 1, 0); cell != end && cell->key < next_node; ++cell) {
            const std::uint32_t metric = cell->metric();
            direct[metric] += cell->value;
            if (is_event && is_exact_in_event(metric, counter_metrics)) visit(*cell);
        }
        if (id == tree.not_sampled()) direct[samples] = samples_before;
    }
    return derive(direct, by_category, counter_metrics);
}

} // namespace

CondensedVector condense(const IterationProfile& profile, const CallTree& tree, std::size_t counter_metrics) noexcept {
    return condense_and(profile, tree, counter_metrics, [](const Cell&) {});
}

CondensedVector condense(const IterationProfile& profile, const CallTree& tree, std::size_t counter_metrics, Cell* events,
                         std::uint32_t& event_count) noexcept {
    Cell* next = events;
    CondensedVector result = condense_and(profile, tree, counter_metrics, [&next](const Cell& cell) { *next++ = cell; });
    event_count = static_cast<std::uint32_t>(next - events);
    return result;
}

} // namespace libprofile
