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
    EventLog::Growth growth(log_, node);
    if (!growth.has_room()) return;
    // Copies, since for the compiler a byte that is written might be one of theirs.
    const std::uint64_t *is = after.first, *was = before.first;
    for_each_constant<Row::in_first_line>([&](auto m) { growth.add(static_cast<std::uint32_t>(m), is[m] - was[m]); });
    is = after.others, was = before.others;
    for (std::uint32_t left = after.beyond; left != 0; left &= left - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(left));
        growth.add(Row::in_first_line + bit, *is++ - ((before.beyond >> bit & 1) != 0 ? *was++ : 0));
    }
    growth.add(EventLog::chance_visits, after.chance_visits - before.chance_visits);
    growth.end();
}

void LoggedValues::begin_nested(Row& row, std::uint32_t level) noexcept {
    if (&row == call_.row) return;
    for (const Begun& nested : nested_)
        if (nested.row == &row) return; // MPI may call an operation of the program many times in a call: one entry has them all
    write(nested_[level - 1]);
    nested_[level - 1].begin(row);
    has_nested_ = true;
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

void LoggedValues::write_all() noexcept {
    for (Begun& nested : nested_) write(nested);
    has_nested_ = false;
    write(call_);
    write_others();
}

/// Writes what a call has added to its row.
void LoggedValues::write(Begun& call) noexcept {
    if (call.row == nullptr) return;
    const Row& row = *call.row;
    call.row = nullptr;
    EventLog::Growth growth(log_, row.node);
    if (!growth.has_room()) return;
    for (std::uint64_t left = row.present(); left != 0; left &= left - 1) {
        const auto m = static_cast<std::uint32_t>(std::countr_zero(left));
        growth.add(m, row.values[m] - call.before[m]);
    }
    growth.add(EventLog::chance_visits, row.chance_visits - call.chance_before);
    growth.end();
}

void LoggedValues::write_others() noexcept {
    for (std::uint32_t i = 0; i < others_; ++i) {
        EventLog::Growth growth(log_, other_[i].node);
        if (!growth.has_room()) break;
        growth.add(static_cast<std::uint32_t>(Metric::Visits), other_[i].visits);
        growth.add(EventLog::chance_visits, other_[i].chance_visits);
        growth.add(static_cast<std::uint32_t>(Metric::Time), other_[i].ns);
        growth.end();
    }
    others_ = 0;
}

} // namespace libprofile
