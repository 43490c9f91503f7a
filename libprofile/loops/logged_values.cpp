#include "libprofile/loops/logged_values.hpp"

#include "libprofile/loops/raw_log.hpp"
#include "libprofile/metrics/accumulator.hpp"

#include <algorithm>
#include <bit>

namespace libprofile {

void LoggedValues::Begun::begin(Row& of) noexcept {
    row = &of;
    std::copy(of.values, of.values + cell_metrics, before);
    chance_before = of.chance_visits;
}

void LoggedValues::go_on(Row& row, const RowValues& before) noexcept {
    call_.row = &row;
    std::fill(call_.before, call_.before + cell_metrics, 0);
    std::copy(before.first, before.first + Row::in_first_line, call_.before);
    std::uint32_t at = 0;
    for (std::uint32_t left = before.beyond; left != 0; left &= left - 1)
        call_.before[Row::in_first_line + static_cast<unsigned>(std::countr_zero(left))] = before.others[at++];
    call_.chance_before = before.chance_visits;
}

void LoggedValues::write(NodeId node, const RowValues& before, const RowValues& after) noexcept {
    struct Cell {
        std::uint32_t metric;
        std::uint64_t growth;
    };
    Cell cells[metric_count + 1];
    std::uint32_t count = 0;
    const auto add = [&](std::uint32_t metric, std::uint64_t growth) {
        if (growth != 0) cells[count++] = {metric, growth};
    };
    for (std::uint32_t m = 0; m < Row::in_first_line; ++m) add(m, after.first[m] - before.first[m]);
    std::uint32_t at = 0, at_before = 0;
    for (std::uint32_t left = after.beyond; left != 0; left &= left - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(left));
        const std::uint64_t was = (before.beyond >> bit & 1) != 0 ? before.others[at_before++] : 0;
        add(Row::in_first_line + bit, after.others[at++] - was);
    }
    add(EventLog::chance_visits, after.chance_visits - before.chance_visits);
    log_.begin_values(node, count);
    for (std::uint32_t i = 0; i < count; ++i) log_.add_value(cells[i].metric, cells[i].growth);
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
