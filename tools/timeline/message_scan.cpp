#include "tools/timeline/message_scan.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/timeline/row_builder.hpp"
#include "tools/timeline/row_window.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

constexpr std::size_t units_of_messages = 8;

} // namespace

MessageScan::MessageScan(const Profile& profile, const IndexedRows& rows, SelectedTimes times, const PassingCalls* passing)
    : profile_(profile), rows_(rows), senders_(profile, rows), times_(std::move(times)), passing_(passing) {
    for (std::uint32_t l = 0; l < rows_.size(); ++l) {
        const SelectedTimes::Span& span = times_.spans[l];
        if (rows_[l] == nullptr || !span.is_there() || (passing_ != nullptr && !passing_->has_thread(l))) continue;
        for (const std::uint32_t group : groups_of_records(rows_[l]->index(), span.begin_ns, span.end_ns)) units_.push_back({l, group});
    }
}

void MessageScan::go_on(std::chrono::milliseconds time) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (!is_done()) {
        std::vector<Sums> found(std::min(units_of_messages, units_.size() - next_unit_));
        in_parallel(found.size(), [&](std::size_t i) { found[i] = sums_of(units_[next_unit_ + i]); });
        for (const Sums& own : found)
            for (const auto& [ranks, sum] : own) {
                sums_[ranks].messages += sum.messages;
                sums_[ranks].bytes += sum.bytes;
            }
        next_unit_ += found.size();
        if (std::chrono::steady_clock::now() >= until) break;
    }
}

MessageScan::Sums MessageScan::sums_of(const Unit& unit) const {
    const IndexedRow& row = *rows_[unit.location];
    const std::uint32_t rank = profile_.locations[unit.location].rank;
    Sums sums;
    for_each_leaf(row, unit.group, 0, ~std::uint64_t{0}, [&](const KeptEvents& events) {
        for (const TracedMessage& message : events.messages) {
            const bool is_sent = message.direction == MessageDirection::Sent;
            if (!is_sent && senders_.have(message)) continue;
            const TracedInterval& call = events.intervals[message.interval];
            const std::uint64_t at = is_sent ? call.begin_ns : std::max<std::uint64_t>(call.end_ns, 1) - 1;
            if (!times_.has(unit.location, at, at + 1)) continue;
            if (passing_ != nullptr &&
                !passing_->has(unit.location, {call.begin_ns, call.end_ns, call.path, call.processor, state_of_node(row.states(), call.path)}))
                continue;
            Sum& sum = sums[is_sent ? std::pair(rank, message.partner) : std::pair(message.partner, rank)];
            ++sum.messages;
            sum.bytes += message.bytes;
        }
    });
    return sums;
}

} // namespace libprofile::tools
