#include "tools/view/collective_columns.hpp"

namespace libprofile::tools {

CollectiveColumns::CollectiveColumns(const Profile& profile, const ClockAxis& axis, const TimelineColumns& events, NamedColumns& columns)
    : counts_(profile.locations.size()) {
    const CollectiveOperations operations(profile, axis);
    if (operations.all().empty()) return;
    NumberColumn &calls = columns.column("collectives", "calls"), &communicators = columns.column("collectives", "communicators"),
                 &numbers = columns.column("collectives", "numbers"), &lasts = columns.column("collectives", "lasts"),
                 &later = columns.column("collectives", "later"), &spans = columns.column("collectives", "spans");
    std::map<std::uint32_t, std::uint64_t> known;
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        const Location& location = profile.locations[l];
        std::int64_t call = 0, number = 0;
        for (const TracedCollective& one : location.events.collectives) {
            const CollectiveOperation* operation = operations.of(l, one.interval);
            const std::optional<std::uint32_t> place = events.place(l, one.interval);
            if (operation == nullptr || !place) continue;
            const auto [communicator, is_new] = known.try_emplace(one.communicator, known.size());
            if (is_new) {
                const auto* members = operations.members(one.communicator);
                communicators_.push_back({{"name", operations.name(one.communicator)}, {"ranks", members == nullptr ? 0 : members->size()}});
            }
            calls.add_signed(static_cast<std::int64_t>(*place) - call);
            call = *place;
            communicators.add(communicator->second);
            numbers.add_signed(static_cast<std::int64_t>(one.number) - number);
            number = static_cast<std::int64_t>(one.number);
            // 0: not known, since a call is missing.
            const std::uint64_t last = operation->last().begin_ns;
            lasts.add(operation->is_whole ? std::uint64_t{profile.locations[operation->last().location].rank} + 1 : 0);
            later.add(operation->is_whole ? last - axis.at(location.rank, location.events.intervals[one.interval].begin_ns) : 0);
            spans.add(operation->is_whole ? last - operation->calls.front().begin_ns : 0);
            ++counts_[l];
        }
    }
}

} // namespace libprofile::tools
