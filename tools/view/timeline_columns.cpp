#include "tools/view/timeline_columns.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

std::int64_t difference(std::uint64_t now, std::uint64_t before) { return static_cast<std::int64_t>(now - before); }

/// Calls visit(part) for the chosen ones.
template <class Visit> void for_each_chosen(const Location& location, const std::vector<bool>& is_in, Visit&& visit) {
    for (std::size_t p = 0; p < location.events.parts.size(); ++p)
        if (is_in[p]) visit(location.events.parts[p]);
}

} // namespace

TimelineColumns::TimelineColumns(const Profile& profile, const PageTables& tables, const MessagePairs& pairs, const ChosenParts& parts,
                                 const std::vector<std::vector<SummedStretch>>& stretches, NamedColumns& columns)
    : profile_(profile), tables_(tables), pairs_(pairs), position_(profile.locations.size()), has_message_(profile.locations.size()),
      counts_(profile.locations.size()), columns_(columns), ran_on_(profile, columns, "intervals") {
    communicators_[0] = 0;
    for (std::size_t l = 0; l < profile.locations.size(); ++l) {
        add_parts(profile.locations[l], parts.is_in[l]);
        add_intervals(l, parts.is_in[l]);
        add_inners(profile.locations[l], parts.is_in[l]);
        add_stretches(stretches[l]);
        for_each_chosen(profile.locations[l], parts.is_in[l], [&](const EventPart& part) {
            counts_[l].parts += 1;
            counts_[l].inners += part.inners;
        });
        counts_[l].stretches = stretches[l].size();
    }
    for (std::size_t l = 0; l < profile.locations.size(); ++l) add_messages(l);
}

void TimelineColumns::add_parts(const Location& location, const std::vector<bool>& is_in) {
    NumberColumn &gaps = column("parts", "gaps"), &lengths = column("parts", "lengths"), &phases = column("parts", "phases"),
                 &numbers = column("parts", "numbers"), &reasons = column("parts", "reasons");
    std::uint64_t end = 0, number = 0;
    for_each_chosen(location, is_in, [&](const EventPart& part) {
        gaps.add(part.begin_ns - end);
        lengths.add(part.end_ns - part.begin_ns);
        end = part.end_ns;
        // 0: a window; 1: an iteration of an unknown phase; then phases.
        phases.add(part.kind == PartKind::Window ? 0 : part.phase == EventPart::no_phase ? 1 : std::uint64_t{part.phase} + 2);
        numbers.add_signed(difference(part.number, number));
        number = part.number;
        reasons.add(part.reasons);
    });
}

void TimelineColumns::add_intervals(std::size_t l, const std::vector<bool>& is_in) {
    const Location& location = profile_.locations[l];
    const std::vector<TracedInterval>& all = location.events.intervals;
    NumberColumn &begins = column("intervals", "begins"), &lengths = column("intervals", "lengths"), &nodes = column("intervals", "nodes"),
                 &states = column("intervals", "states");
    std::vector<std::uint32_t> order;
    for_each_chosen(location, is_in, [&](const EventPart& part) {
        for (std::uint32_t i = 0; i < part.intervals; ++i) order.push_back(part.intervals_at + i);
    });
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        if (all[a].begin_ns != all[b].begin_ns) return all[a].begin_ns < all[b].begin_ns;
        return all[a].end_ns != all[b].end_ns ? all[a].end_ns > all[b].end_ns : a > b; // of those that take no time, the one that ends last is outside
    });
    position_[l].assign(all.size(), nowhere);
    std::uint64_t before = 0, node = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const TracedInterval& interval = all[order[i]];
        position_[l][order[i]] = static_cast<std::uint32_t>(i);
        begins.add(interval.begin_ns - before);
        before = interval.begin_ns;
        lengths.add(interval.end_ns - interval.begin_ns);
        const std::uint64_t own = tables_.cells.node_of_path[interval.path];
        nodes.add_signed(difference(own, node));
        node = own;
        states.add(static_cast<std::uint64_t>(timeline_state_of(profile_, profile_.paths[interval.path])));
        ran_on_.add(location.rank, interval.processor);
    }
    counts_[l].intervals = order.size();
    has_message_[l].assign(location.events.messages.size(), false);
    for_each_chosen(location, is_in, [&](const EventPart& part) {
        for (std::uint32_t m = 0; m < part.messages; ++m) {
            const std::uint32_t number = part.messages_at + m;
            has_message_[l][number] = position_[l][location.events.messages[number].interval] != nowhere;
        }
    });
}

void TimelineColumns::add_messages(std::size_t l) {
    const std::vector<TracedMessage>& all = profile_.locations[l].events.messages;
    NumberColumn &calls = column("messages", "calls"), &kinds = column("messages", "kinds"), &partners = column("messages", "partners"),
                 &communicators = column("messages", "communicators"), &tags = column("messages", "tags"), &bytes = column("messages", "bytes"),
                 &rows = column("messages", "rows"), &others = column("messages", "others");
    std::int64_t call = 0, other = 0;
    for (std::size_t m = 0; m < all.size(); ++m) {
        const TracedMessage& message = all[m];
        if (!has_message_[l][m]) continue;
        MessagePairs::End end = pairs_.other_end(l, m);
        if (end.is_known() && !has_message_[end.location][end.message]) end = {};
        const bool is_sent = message.direction == MessageDirection::Sent;
        if (!is_sent && end.is_known()) continue; // its sender has it
        const std::int64_t own = position_[l][message.interval];
        calls.add_signed(own - call);
        call = own;
        kinds.add(is_sent ? 0 : pairs_.may_have_sender(l, m) ? 2 : 1);
        partners.add(message.partner == TracedMessage::unknown_rank ? 0 : std::uint64_t{message.partner} + 1);
        communicators.add(communicators_.try_emplace(message.communicator, communicators_.size()).first->second);
        tags.add_signed(message.tag);
        bytes.add(message.bytes);
        rows.add(end.is_known() ? std::uint64_t{end.location} + 1 : 0);
        if (end.is_known()) {
            const std::int64_t its = position_[end.location][profile_.locations[end.location].events.messages[end.message].interval];
            others.add_signed(its - other);
            other = its;
        } else
            others.add_signed(0);
        ++counts_[l].messages;
    }
}

void TimelineColumns::add_inners(const Location& location, const std::vector<bool>& is_in) {
    NumberColumn &begins = column("inners", "begins"), &lengths = column("inners", "lengths"), &phases = column("inners", "phases"),
                 &numbers = column("inners", "numbers");
    std::uint64_t begin = 0, number = 0;
    for_each_chosen(location, is_in, [&](const EventPart& part) {
        for (std::uint32_t i = 0; i < part.inners; ++i) {
            const TracedInner& inner = location.events.inners[part.inners_at + i];
            begins.add_signed(difference(inner.begin_ns, begin)); // they come in the order of their ends
            begin = inner.begin_ns;
            lengths.add(inner.end_ns - inner.begin_ns);
            phases.add(inner.phase == EventPart::no_phase ? 0 : std::uint64_t{inner.phase} + 1);
            numbers.add_signed(difference(inner.number, number));
            number = inner.number;
        }
    });
}

void TimelineColumns::add_stretches(const std::vector<SummedStretch>& stretches) {
    NumberColumn &gaps = column("stretches", "gaps"), &lengths = column("stretches", "lengths"), &phases = column("stretches", "phases"),
                 &firsts = column("stretches", "firsts"), &counts = column("stretches", "counts"), &exact = column("stretches", "exact"),
                 &sums = column("stretches", "sums");
    std::uint64_t end = 0, first = 0;
    for (const SummedStretch& stretch : stretches) {
        gaps.add_signed(difference(stretch.begin_ns, end));
        lengths.add(stretch.end_ns - stretch.begin_ns);
        end = stretch.end_ns;
        phases.add(stretch.phase);
        firsts.add_signed(difference(stretch.first, first));
        first = stretch.first;
        counts.add(stretch.count);
        exact.add(stretch.is_exact ? 1 : 0);
        for (const std::uint64_t ns : stretch.sums) sums.add(ns);
    }
}

} // namespace libprofile::tools
