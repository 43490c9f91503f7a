#include "libprofile/loops/logged_values.hpp"

#include "libprofile/metrics/accumulator.hpp"

#include <algorithm>
#include <bit>

namespace libprofile {

void LoggedValues::Begun::begin(Row& of) noexcept {
    row = &of;
    std::copy(of.values, of.values + cell_metrics, before);
    chance_before = of.chance_visits;
}

void LoggedValues::begin_nested(Row& row) noexcept {
    write(nested_);
    if (&row != call_.row) nested_.begin(row);
}

void LoggedValues::add(NodeId node, std::uint64_t visits, std::uint64_t chance_visits, std::uint64_t ns) noexcept {
    std::uint32_t i = 0;
    while (i < others_ && other_[i].node != node) ++i;
    if (i == most_others) {
        write_others();
        i = 0;
    }
    if (i == others_) other_[others_++] = {node, 0, 0, 0};
    other_[i].visits += visits;
    other_[i].chance_visits += chance_visits;
    other_[i].ns += ns;
}

void LoggedValues::write() noexcept {
    write(nested_);
    write(call_);
    write_others();
}

/// Writes what a call has added to its row.
void LoggedValues::write(Begun& call) noexcept {
    if (call.row == nullptr) return;
    const Row& row = *call.row;
    call.row = nullptr;
    std::uint64_t changed = 0;
    std::uint32_t cells = row.chance_visits != call.chance_before ? 1 : 0;
    for (std::uint64_t left = row.present(); left != 0; left &= left - 1) {
        const auto m = static_cast<std::uint32_t>(std::countr_zero(left));
        if (row.values[m] == call.before[m]) continue;
        changed |= std::uint64_t{1} << m;
        ++cells;
    }
    log_.begin_values(row.node, cells);
    for (; changed != 0; changed &= changed - 1) {
        const auto m = static_cast<std::uint32_t>(std::countr_zero(changed));
        log_.add_value(m, row.values[m] - call.before[m]);
    }
    if (row.chance_visits != call.chance_before) log_.add_value(EventLog::chance_visits, row.chance_visits - call.chance_before);
}

void LoggedValues::write_others() noexcept {
    for (std::uint32_t i = 0; i < others_; ++i) {
        const Other& events = other_[i];
        log_.begin_values(events.node, (events.visits != 0 ? 1u : 0u) + (events.chance_visits != 0 ? 1u : 0u) + (events.ns != 0 ? 1u : 0u));
        if (events.visits != 0) log_.add_value(static_cast<std::uint32_t>(Metric::Visits), events.visits);
        if (events.chance_visits != 0) log_.add_value(EventLog::chance_visits, events.chance_visits);
        if (events.ns != 0) log_.add_value(static_cast<std::uint32_t>(Metric::Time), events.ns);
    }
    others_ = 0;
}

} // namespace libprofile
