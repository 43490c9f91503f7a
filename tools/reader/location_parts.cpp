#include "tools/reader/location_parts.hpp"

#include "tools/reader/decode_sequences.hpp"
#include "tools/reader/sample_pools.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace libprofile::tools {

/// A path that ended early, at "(quota)", has fewer frames than the sample had: then the ancestor is cut, too.
bool LocationBuilder::map_trace(Trace& trace, const std::vector<std::uint32_t>& nodes) const {
    for (TraceSample& sample : trace.samples) {
        if (sample.path >= nodes.size()) return false;
        sample.path = nodes[sample.path];
        sample.lca_depth = std::min(sample.lca_depth, numbering_.depth(sample.path));
    }
    for (TraceWait& wait : trace.waits) {
        if (wait.path >= nodes.size()) return false;
        wait.path = nodes[wait.path];
        wait.lca_depth = std::min(wait.lca_depth, numbering_.depth(wait.path));
        wait.after_depth = std::min(wait.after_depth, numbering_.depth(wait.path));
    }
    return true;
}

void LocationBuilder::attach_trace(Trace& trace, Location& location, const std::vector<std::uint32_t>& nodes) {
    if (map_trace(trace, nodes))
        location.trace = std::move(trace);
    else
        lose(fmt::format("{}: the trace of rank {} thread {} is lost, because it refers to call "
                         "paths that are not there",
                         file_, location.rank, location.thread));
}

void LocationBuilder::attach_events(KeptEvents& events, Location& location, const std::vector<std::uint32_t>& nodes,
                                    const std::map<std::uint32_t, std::uint32_t>& phases) {
    const auto map = [&](auto& list) {
        return std::all_of(list.begin(), list.end(), [&](auto& event) {
            if (event.path >= nodes.size()) return false;
            event.path = nodes[event.path];
            return true;
        });
    };
    if (!map(events.intervals) || !map(events.tasks) || !map(events.runs))
        return lose(fmt::format("{}: the events of rank {} thread {} are lost, because they refer to call paths that are not there", file_, location.rank,
                                location.thread));
    const auto known = [&](std::uint32_t number) {
        const auto phase = phases.find(number);
        return phase == phases.end() ? EventPart::no_phase : phase->second;
    };
    for (EventPart& part : events.parts) part.phase = part.kind == PartKind::Iteration ? known(part.phase) : EventPart::no_phase;
    for (TracedInner& inner : events.inners) inner.phase = known(inner.phase);
    location.events = std::move(events);
}

void LocationBuilder::attach_partners(Partners& partners, Location& location, const std::vector<std::uint32_t>& nodes) {
    for (PartnerRow& row : partners.rows) {
        if (row.path >= nodes.size())
            return lose(fmt::format("{}: the partners of messages of rank {} thread {} are lost, because they refer to call paths that are not there", file_,
                                    location.rank, location.thread));
        row.path = nodes[row.path];
    }
    location.partners = std::move(partners);
}

/// wall = sum of the exclusive times of the phases = per phase, sum of the exclusive times of its call paths.
/// Where that does not hold, blocks are missing (a file can end between two) or the writer was wrong.
void LocationBuilder::check_sums(const Location& location) {
    std::uint64_t phases = 0;
    for (const PhaseData& data : location.phases) {
        const std::string& name = profile_.phases[data.phase].name;
        std::uint64_t time = 0;
        for_each_cell(data, [&](const Cell& cell) {
            if (cell.metric == 0) time += cell.value;
        });
        if (time != data.wall_ns)
            lose(fmt::format("{}: rank {} thread {}: the call paths of phase \"{}\" add up to {} ns, its "
                             "wall time is {} ns",
                             file_, location.rank, location.thread, name, time, data.wall_ns));
        phases += data.wall_ns;
        std::uint64_t members = data.unclustered;
        for (const Cluster& cluster : data.clusters) members += cluster.size;
        if (profile_.phases[data.phase].kind == PhaseKind::Iterations && members != data.instances)
            note(fmt::format("{}: rank {} thread {}: phase \"{}\" has {} iterations, but times of {} only", file_, location.rank, location.thread, name,
                             members, data.instances));
    }
    if (phases != location.wall_ns)
        lose(fmt::format("{}: rank {} thread {}: the phases add up to {} ns, the wall time is {} ns", file_, location.rank, location.thread, phases,
                         location.wall_ns));
}

void LocationBuilder::take_phases(const LocationParts& parts, Location& location, CellNumbers numbers) {
    std::set<std::uint32_t> seen;
    const std::vector<PathUse> uses = uses_of(profile_, numbers.nodes);
    for (RawPhase* p : parts.phases) {
        share_out_computing_time(numbers, uses, p->data);
        const bool good = map_cells(p->data, numbers);
        p->data.phase = numbering_.phase(p->name, p->kind);
        const bool twice = seen.contains(p->data.phase);
        if (good && !twice) {
            seen.insert(p->data.phase);
            phase_of_number_[p->number] = p->data.phase;
            location.phases.push_back(std::move(p->data));
        } else {
            lose(fmt::format("{}: phase \"{}\" of rank {} thread {} is lost, because {}", file_, p->name, location.rank, location.thread,
                             twice ? "it occurs twice" : "it refers to call paths or metrics that are not there"));
        }
    }
}

/// Gives the series of a location to its phases.
void LocationBuilder::attach_series(const LocationParts& parts, Location& location, CellNumbers numbers) {
    const auto& [nodes, metrics] = numbers;
    std::map<std::uint32_t, PhaseData*> phases; // by phase
    if (!parts.series.empty())
        for (PhaseData& data : location.phases) phases.emplace(data.phase, &data);
    const auto map_counters = [&](SeriesData& part) {
        for (std::uint32_t& row : part.counter_rows) {
            const std::size_t metric = metric_count + row - catalogue_size;
            if (metric >= metrics.size() || metrics[metric] < metric_count) return false;
            row = static_cast<std::uint32_t>(catalogue_size + metrics[metric] - metric_count);
        }
        return true;
    };
    const auto map = [&](std::vector<SeriesData::Column>& columns) {
        for (SeriesData::Column& column : columns) {
            if (column.path >= nodes.size()) return false;
            column.path = nodes[column.path];
        }
        return true;
    };
    for (RawSeries* series : parts.series) {
        const std::optional<std::uint32_t> named = numbering_.known_phase(series->phase, PhaseKind::Iterations);
        const auto at = named ? phases.find(*named) : phases.end();
        const bool good = at != phases.end() && !at->second->series && !series->data.chunks.empty() && map_counters(series->data) && map(series->data.counts) &&
                          map(series->data.times) && std::all_of(series->data.later.begin(), series->data.later.end(), [&](SeriesData& part) {
                              return map_counters(part) && map(part.counts) && map(part.times);
                          });
        if (good)
            at->second->series = std::move(series->data);
        else
            lose(fmt::format("{}: the values of single iterations of phase \"{}\" of rank {} thread {} are lost, because they do "
                             "not fit to the phase",
                             file_, series->phase, location.rank, location.thread));
    }
}

/// Gives what lay inside iterations to their phases. Phases that were not chosen are left out.
void LocationBuilder::attach_insides(const LocationParts& parts, Location& location) {
    for (RawInside* inside : parts.insides) {
        const auto number = phase_of_number_.find(inside->phase);
        if (number == phase_of_number_.end()) continue;
        const auto at = std::find_if(location.phases.begin(), location.phases.end(), [&](const PhaseData& data) { return data.phase == number->second; });
        bool good = profile_.phases[number->second].kind == PhaseKind::Iterations && !at->inside;
        InsideData data;
        data.known = inside->data.known;
        for (InsideData::Entry entry : inside->data.entries) {
            const auto inner = phase_of_number_.find(entry.phase);
            if (inner == phase_of_number_.end()) continue;
            entry.phase = inner->second;
            if (profile_.phases[entry.phase].kind != PhaseKind::Iterations) std::swap(entry.first, entry.wall_ns);
            good = good && entry.phase != number->second && entry.first <= max_id && entry.count <= max_id;
            data.entries.push_back(entry);
        }
        if (good)
            at->inside = std::move(data);
        else
            lose(fmt::format("{}: what lies inside the iterations of phase \"{}\" of rank {} thread {} is lost, because it does not fit to the phase", file_,
                             profile_.phases[number->second].name, location.rank, location.thread));
    }
    if (const auto oddity = oddity_of_insides(location)) {
        for (PhaseData& data : location.phases) data.inside.reset();
        lose(fmt::format("{}: what lies inside the iterations of rank {} thread {} is lost, because {}", file_, location.rank, location.thread, *oddity));
    }
}

/// Gives the begins of iterations to their phases. Phases that were not chosen are left out.
void LocationBuilder::attach_begins(const LocationParts& parts, Location& location) {
    for (const RawBegins* begins : parts.begins) {
        const auto number = phase_of_number_.find(begins->phase);
        if (number == phase_of_number_.end()) continue;
        const auto at = std::find_if(location.phases.begin(), location.phases.end(), [&](const PhaseData& data) { return data.phase == number->second; });
        const std::size_t coded = begins->gaps.size(), all = coded + begins->later.size();
        bool good = at->iteration_begin_ns.empty() && all <= at->iteration_ns.size() && (begins->later.empty() || all == at->iteration_ns.size());
        std::vector<std::uint64_t> times;
        std::uint64_t end = begins->first;
        for (std::size_t i = 0; good && i < all; ++i) {
            std::uint64_t begin = 0;
            if (i < coded)
                good = !__builtin_add_overflow(end, begins->gaps[i], &begin);
            else
                begin = std::max(begins->later[i - coded], end); // iterations of a phase never overlap
            good = good && !__builtin_add_overflow(begin, at->iteration_ns[i], &end);
            times.push_back(begin);
        }
        if (good)
            at->iteration_begin_ns = std::move(times);
        else
            lose(fmt::format("{}: when the iterations of phase \"{}\" of rank {} thread {} began is lost, because it does not fit to the phase", file_,
                             profile_.phases[number->second].name, location.rank, location.thread));
    }
}

bool LocationBuilder::map_sequences(SequencesData& data, const std::vector<std::uint32_t>& nodes) const {
    for (EventSequence& sequence : data.sequences)
        for (SequenceEvent& event : sequence.events) {
            if (!event.is_inner) {
                if (event.path >= nodes.size()) return false;
                event.path = nodes[event.path];
                continue;
            }
            const auto inner = phase_of_number_.find(event.phase);
            event.phase = inner == phase_of_number_.end() ? SequenceEvent::none : inner->second;
        }
    return true;
}

/// Gives the sequences of events to their phases. Phases that were not chosen are left out.
void LocationBuilder::attach_sequences(const LocationParts& parts, Location& location, const std::vector<std::uint32_t>& nodes) {
    const auto data_of = [&](std::uint32_t phase) {
        return std::find_if(location.phases.begin(), location.phases.end(), [&](const PhaseData& data) { return data.phase == phase; });
    };
    for (RawSequences* sequences : parts.sequences) {
        const auto number = phase_of_number_.find(sequences->phase);
        if (number == phase_of_number_.end()) continue;
        const auto at = data_of(number->second);
        auto numbers = decode_sequence_numbers(*sequences, at->iteration_ns.size());
        if (numbers && !at->sequences && map_sequences(sequences->data, nodes)) {
            at->sequences = std::move(sequences->data);
            at->sequences->number_of_iteration = std::move(*numbers);
        } else {
            lose(fmt::format("{}: the order of events in phase \"{}\" of rank {} thread {} is lost, because it does not fit to the phase", file_,
                             profile_.phases[number->second].name, location.rank, location.thread));
        }
    }
    // A sequence inside is one of its own phase.
    for (PhaseData& data : location.phases)
        for (std::size_t i = 0; data.sequences && i < data.sequences->sequences.size(); ++i)
            for (SequenceEvent& event : data.sequences->sequences[i].events) {
                if (!event.is_inner || event.phase == SequenceEvent::none || event.sequence == SequenceEvent::none) continue;
                const auto inner = data_of(event.phase);
                if (!inner->sequences || event.sequence >= inner->sequences->sequences.size()) event.sequence = SequenceEvent::none;
            }
}

/// What no thread does, and readers of such a file would count iterations again and again, or never end.
std::optional<const char*> LocationBuilder::oddity_of_insides(const Location& location) const {
    constexpr int most_levels = 64; // as many phases can be open
    struct Span {
        std::uint64_t first = 0, end = 0;
        std::uint32_t outer = 0; // the phase and the iteration that it lies in
        std::uint64_t iteration = 0;
    };
    std::map<std::uint32_t, std::vector<Span>> spans; // by phase, by first iteration
    for (const PhaseData& data : location.phases)
        if (data.inside)
            for (const InsideData::Entry& entry : data.inside->entries)
                if (entry.count != 0 && profile_.phases[entry.phase].kind == PhaseKind::Iterations)
                    spans[entry.phase].push_back({entry.first, entry.first + entry.count, data.phase, entry.iteration});
    for (auto& [phase, list] : spans) {
        std::sort(list.begin(), list.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
        if (std::adjacent_find(list.begin(), list.end(), [](const Span& a, const Span& b) { return b.first < a.end; }) != list.end())
            return "some lie in two others";
    }
    const auto around = [&](std::uint32_t phase, std::uint64_t iteration) -> const Span* {
        const auto of_phase = spans.find(phase);
        if (of_phase == spans.end()) return nullptr;
        const std::vector<Span>& list = of_phase->second;
        const auto after = std::upper_bound(list.begin(), list.end(), iteration, [](std::uint64_t i, const Span& s) { return i < s.first; });
        return after == list.begin() || iteration >= (after - 1)->end ? nullptr : &*(after - 1);
    };
    for (const auto& [phase, list] : spans)
        for (const Span& span : list) {
            const Span* next = &span;
            for (int level = 0; (next = around(next->outer, next->iteration)) != nullptr; ++level)
                if (level == most_levels) return "some lie in themselves, or deeper than phases can";
        }
    return std::nullopt;
}

} // namespace libprofile::tools
