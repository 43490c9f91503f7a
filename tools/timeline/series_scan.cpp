#include "tools/timeline/series_scan.hpp"

#include "tools/analysis/in_parallel.hpp"
#include "tools/reader/counters.hpp"
#include "tools/timeline/named_paths.hpp"
#include "tools/timeline/row_builder.hpp"
#include "tools/timeline/row_window.hpp"
#include "tools/timeline/selected_times.hpp"

#include <algorithm>
#include <cmath>

namespace libprofile::tools {

namespace {

constexpr std::size_t units_of_series = 8;

/// * stands for any characters.
bool matches(const std::string& pattern, const std::string& name) {
    std::size_t from = 0, at = 0;
    for (bool is_first = true;; is_first = false) {
        const std::size_t star = pattern.find('*', from);
        const std::string part = pattern.substr(from, star - from);
        if (star == std::string::npos) {
            if (is_first) return name == part;
            return name.size() >= at + part.size() && name.ends_with(part);
        }
        const std::size_t found = name.find(part, at);
        if (found == std::string::npos || (is_first && found != 0)) return false;
        at = found + part.size();
        from = star + 1;
    }
}

/// The cell of a time: i is between time i - 1 and time i.
std::size_t cell_at(const std::vector<double>& edges, double ns) {
    return static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), ns) - edges.begin());
}
std::size_t cell_at(const std::vector<double>& edges, std::uint64_t ns) { return cell_at(edges, static_cast<double>(ns)); }

} // namespace

SeriesScan::SeriesScan(const Profile& profile, const IndexedRows& rows, SeriesQuestion question)
    : profile_(profile), rows_(rows), senders_(profile, rows), question_(std::move(question)), wanted_(rows.size()), counter_(rows.size(), -1),
      cells_(rows.size()), groups_(rows.size()) {
    for (std::size_t l = 0; l < rows_.size(); ++l) {
        if (rows_[l] == nullptr || question_.edges[l].empty() || rows_[l]->index().groups.empty()) continue;
        if (is_of_calls()) wanted_[l] = wanted_nodes(*rows_[l]);
        if (question_.of != SeriesQuestion::Of::Counter) continue;
        const std::vector<std::string> names = counter_names(profile, profile.locations[l].rank);
        for (const RowIndex::FirstReading& reading : rows_[l]->index().read_first)
            if (reading.counter < names.size() && names[reading.counter] == question_.name) counter_[l] = reading.counter;
    }
    add_units();
}

std::vector<bool> SeriesScan::wanted_nodes(const IndexedRow& row) const {
    const NamedPaths names(profile_, "", "");
    const std::vector<std::uint32_t>& paths = *row.block().paths;
    const auto state =
        std::find_if(timeline_state_names.begin(), timeline_state_names.end(), [&](const TimelineStateName& one) { return one.key == question_.name; });
    std::vector<bool> wanted(paths.size());
    for (const auto& [node, ns] : row.index().called) {
        if (node >= paths.size()) continue;
        wanted[node] = state != timeline_state_names.end()
                           ? static_cast<std::size_t>(state_of_node(row.states(), node)) == static_cast<std::size_t>(state - timeline_state_names.begin())
                           : paths[node] != 0 && matches(question_.name, names.name_of(paths[node]));
    }
    return wanted;
}

/// Groups that have some of the time. A record comes when its call is over: those of calls that end behind the last time are there, too.
void SeriesScan::add_units() {
    for (std::uint32_t l = 0; l < rows_.size(); ++l) {
        const std::vector<double>& edges = question_.edges[l];
        if (rows_[l] == nullptr || edges.empty() || rows_[l]->index().groups.empty()) continue;
        const RowIndex& index = rows_[l]->index();
        std::uint64_t bits = 0;
        for (std::uint32_t node = 0; node < wanted_[l].size(); ++node) bits |= wanted_[l][node] ? node_bit(node) : 0;
        const auto groups = static_cast<std::uint32_t>(index.groups.size());
        const bool is_from_begin = question_.is_total && question_.of != SeriesQuestion::Of::Counter;
        std::uint32_t first = is_from_begin ? 0 : static_cast<std::uint32_t>(index.group_at(whole_ns(edges.front() - 1)));
        std::uint32_t end = static_cast<std::uint32_t>(index.group_at(whole_ns(std::ceil(edges.back())))) + 1;
        if (is_of_calls()) {
            std::uint64_t before = 0; // nodes of groups up to the begin of this one: what takes no time and lies there counts here
            for (std::uint32_t g = first; g < end; ++g) {
                const std::uint64_t own = index.groups[g].nodes;
                if (((own | (question_.of == SeriesQuestion::Of::Calls ? before : 0)) & bits) != 0) units_.push_back({l, g});
                before = index.end_of(g) > index.groups[g].time ? own : before | own;
            }
        } else if (question_.of == SeriesQuestion::Of::Received) {
            for (std::uint32_t g = first; g < end; ++g) units_.push_back({l, g});
        } else if (question_.of != SeriesQuestion::Of::Counter || counter_[l] >= 0) {
            if (question_.of == SeriesQuestion::Of::Counter && first > 0) units_.push_back({l, --first});
            const std::uint64_t from = is_from_begin ? 0 : whole_ns(edges.front()), to = whole_ns(std::ceil(edges.back()));
            for (const std::uint32_t group : groups_of_records(index, from, to)) units_.push_back({l, group});
            end = std::min(groups, end + 1);
        }
        groups_[l] = {first, end};
    }
}

/// A counter may not have been read for long before the first time, or behind the last one.
void SeriesScan::add_far_readings() {
    if (question_.of != SeriesQuestion::Of::Counter) return;
    for (std::uint32_t l = 0; l < rows_.size(); ++l) {
        if (counter_[l] < 0 || cells_[l].empty()) continue;
        const std::vector<double>& edges = question_.edges[l];
        auto& [first, end] = groups_[l];
        const bool is_first_there = static_cast<double>(rows_[l]->index().groups.front().time) >= edges.front();
        if (!cells_[l].front().is_read && first > 0 && !is_first_there) units_.push_back({l, --first});
        if (!cells_[l].back().is_read && end < rows_[l]->index().groups.size()) units_.push_back({l, end++});
    }
}

void SeriesScan::go_on(std::chrono::milliseconds time) {
    const auto until = std::chrono::steady_clock::now() + time;
    while (!is_done()) {
        const std::size_t units = std::min(units_of_series, units_.size() - next_unit_);
        std::vector<Cells> found(units);
        in_parallel(units, [&](std::size_t i) { found[i] = cells_of(units_[next_unit_ + i]); });
        for (std::size_t i = 0; i < units; ++i) {
            Cells& all = cells_[units_[next_unit_ + i].location];
            all.resize(found[i].size());
            for (std::size_t c = 0; c < all.size(); ++c) {
                const Cell& own = found[i][c];
                all[c].sum += own.sum;
                if (!own.is_read) continue;
                all[c].first = all[c].is_read ? std::min(all[c].first, own.first) : own.first;
                all[c].last = all[c].is_read ? std::max(all[c].last, own.last) : own.last;
                all[c].is_read = true;
            }
        }
        next_unit_ += units;
        if (is_done()) add_far_readings();
        if (std::chrono::steady_clock::now() >= until) break;
    }
}

SeriesScan::Cells SeriesScan::cells_of(const Unit& unit) const {
    Cells cells(question_.edges[unit.location].size() + 1);
    if (is_of_calls())
        add_calls(unit, cells);
    else
        add_records(unit, cells);
    return cells;
}

void SeriesScan::add_calls(const Unit& unit, Cells& cells) const {
    const IndexedRow& row = *rows_[unit.location];
    const std::vector<double>& edges = question_.edges[unit.location];
    const std::vector<bool>& wanted = wanted_[unit.location];
    const std::uint64_t behind = unit.group + 1 == row.index().groups.size() ? 1 : 0; // the last one has what is at the very end, too
    const std::uint64_t begin = std::max(row.index().groups[unit.group].time, question_.is_total ? 0 : whole_ns(edges.front())),
                        end = std::min(row.index().end_of(unit.group) + behind, whole_ns(std::ceil(edges.back())));
    const bool is_number = question_.of == SeriesQuestion::Of::Calls;
    const RowPieces pieces = pieces_between(row, begin, end, true);
    auto span = pieces.spans.begin();
    std::uint64_t until = 0;
    for (const StateCall& call : pieces.calls) {
        if (call.is_run() || call.path >= wanted.size() || !wanted[call.path] || (call.end_ns <= until && call.begin_ns < until)) continue;
        const std::uint64_t length = call.end_ns - call.begin_ns;
        until = std::max(until, call.end_ns);
        if (length == 0) {
            if (is_number && call.begin_ns >= begin && call.begin_ns < end) cells[cell_at(edges, call.begin_ns)].sum += 1;
            continue;
        }
        while (span != pieces.spans.end() && span->end_ns <= call.begin_ns) ++span; // calls are in the order of their begins
        for (auto own = span; own != pieces.spans.end() && own->begin_ns < call.end_ns; ++own) {
            const std::uint64_t to = std::min({call.end_ns, own->end_ns, end});
            for (double at = static_cast<double>(std::max({call.begin_ns, own->begin_ns, begin})); at < static_cast<double>(to);) {
                const std::size_t cell = cell_at(edges, at);
                const double next = cell < edges.size() ? std::min(static_cast<double>(to), edges[cell]) : static_cast<double>(to);
                cells[cell].sum += is_number ? (next - at) / static_cast<double>(length) : next - at;
                at = next;
            }
        }
    }
}

void SeriesScan::add_message(const KeptEvents& events, const TracedMessage& message, std::uint64_t rank, const std::vector<double>& edges, Cells& cells) const {
    const bool is_sent = message.direction == MessageDirection::Sent, is_known = message.partner != TracedMessage::unknown_rank;
    const bool is_of_receiver = question_.of == SeriesQuestion::Of::Received;
    if (is_sent ? is_of_receiver : !is_of_receiver && senders_.have(message)) return; // the other end has it
    const auto is_in = [](bool is_there, std::uint64_t number, std::uint64_t from, std::uint64_t end) {
        return end == ~std::uint64_t{0} || (is_there && number >= from && number < end);
    };
    if (!is_in(is_sent || is_known, is_sent ? rank : message.partner, question_.from_rank, question_.end_from) ||
        !is_in(!is_sent || is_known, is_sent ? message.partner : rank, question_.to_rank, question_.end_to))
        return;
    const TracedInterval& call = events.intervals[message.interval];
    cells[cell_at(edges, is_sent ? call.begin_ns : call.end_ns)].sum += question_.of == SeriesQuestion::Of::Messages ? 1.0 : static_cast<double>(message.bytes);
}

void SeriesScan::add_records(const Unit& unit, Cells& cells) const {
    const std::vector<double>& edges = question_.edges[unit.location];
    const std::uint64_t rank = profile_.locations[unit.location].rank;
    for_each_leaf(*rows_[unit.location], unit.group, 0, ~std::uint64_t{0}, [&](const KeptEvents& events) {
        if (question_.of != SeriesQuestion::Of::Counter) {
            for (const TracedMessage& message : events.messages) add_message(events, message, rank, edges, cells);
            return;
        }
        for (const TracedCount& count : events.counts) {
            if (count.counter != counter_[unit.location]) continue;
            const auto [begin, end] = times_of(events, count);
            for (const auto& reading : {std::pair(begin, count.begin), std::pair(end, count.end)}) {
                Cell& cell = cells[cell_at(edges, reading.first)];
                cell.first = cell.is_read ? std::min(cell.first, reading) : reading;
                cell.last = cell.is_read ? std::max(cell.last, reading) : reading;
                cell.is_read = true;
            }
        }
    });
}

std::vector<double> SeriesScan::values(std::size_t location) const {
    const std::vector<double>& edges = question_.edges[location];
    const Cells& cells = cells_[location];
    std::vector<double> list(edges.size());
    if (cells.empty()) return list;
    if (question_.of != SeriesQuestion::Of::Counter) {
        double sum = question_.is_total ? cells[0].sum : 0;
        for (std::size_t i = 0; i < edges.size(); ++i) {
            list[i] = sum;
            sum += cells[i + 1].sum;
        }
        return list;
    }
    std::uint64_t base = 0;
    for (const RowIndex::FirstReading& reading : rows_[location]->index().read_first)
        if (reading.counter == counter_[location]) base = reading.value;
    std::vector<const std::pair<std::uint64_t, std::uint64_t>*> next(edges.size(), nullptr); // the first reading from each time on
    for (std::size_t i = edges.size(); i-- > 0;) next[i] = cells[i + 1].is_read ? &cells[i + 1].first : i + 1 < edges.size() ? next[i + 1] : nullptr;
    const std::pair<std::uint64_t, std::uint64_t>* before = nullptr; // the last one before it
    for (std::size_t i = 0; i < edges.size(); ++i) {
        if (cells[i].is_read) before = &cells[i].last;
        if (before == nullptr) continue; // not read yet
        double value = static_cast<double>(before->second - std::min(base, before->second));
        if (next[i] != nullptr && next[i]->second > before->second)
            value += static_cast<double>(next[i]->second - before->second) / static_cast<double>(std::max<std::uint64_t>(1, next[i]->first - before->first)) *
                     (edges[i] - static_cast<double>(before->first));
        list[i] = value;
    }
    return list;
}

} // namespace libprofile::tools
