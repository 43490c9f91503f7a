#include "tools/analysis/cost.hpp"

#include "format/own_share.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace libprofile::tools {

namespace {

/// How often and by what the ranks were sampled: "sampled 100 times per second of processor time (perf clock)". Automatic rates differ between ranks.
std::string sampling_text(const Profile& profile) {
    struct Ranks {
        std::uint64_t n = 0, least = UINT64_MAX, most = 0; // samples per second
    };
    std::map<SamplingClock, Ranks> ranks;
    for (const auto& [rank, info] : profile.ranks) {
        Ranks& alike = ranks[info.sampling_clock];
        ++alike.n;
        alike.least = std::min(alike.least, info.rate);
        alike.most = std::max(alike.most, info.rate);
    }
    std::string out;
    for (const auto& [clock, alike] : ranks) {
        out += out.empty() ? "" : "; ";
        if (clock == SamplingClock::None)
            out += "not sampled";
        else
            out += fmt::format("sampled {}{} per second of {} ({} clock)", alike.least == alike.most ? "" : count(static_cast<double>(alike.least)) + " to ",
                               plural(alike.most, "time"), clock == SamplingClock::Wall ? "wall time" : "processor time",
                               sampling_clock_names[static_cast<std::size_t>(clock)]);
        if (ranks.size() > 1) out += ": " + plural(alike.n, "rank");
    }
    return out;
}

/// Samples without a call path, by reason; empty without any.
std::string skips_text(const Profile& profile) {
    std::uint64_t sums[skip_reason_count] = {}, all = 0;
    for (const auto& [rank, info] : profile.ranks)
        for (std::size_t i = 0; i < skip_reason_count; ++i) {
            sums[i] += info.skipped[i];
            all += info.skipped[i];
        }
    if (all == 0) return "";
    std::string out = plural(all, "sample") + " without a call path";
    const char* separator = ": ";
    for (std::size_t i = 0; i < skip_reason_count; ++i) {
        if (sums[i] == 0) continue;
        out += fmt::format("{}{} {} ({})", separator, count(static_cast<double>(sums[i])), skip_reasons[i].text, skip_reasons[i].explanation);
        separator = "; ";
    }
    return out;
}

bool has_checkpoints(const Profile& profile) {
    return std::any_of(profile.ranks.begin(), profile.ranks.end(), [](const auto& rank) { return rank.second.checkpoint; });
}

/// How much of the traces is there, and how well the samples' common ancestors are known.
std::string trace_text(const Profile& profile) {
    std::uint64_t samples = 0, dropped = 0, threads = 0, waits = 0;
    std::uint64_t kinds[3] = {};
    for (const Location& location : profile.locations) {
        const Trace& trace = location.trace;
        threads += trace.stride != 0 ? 1 : 0;
        samples += trace.samples.size();
        dropped += trace.dropped;
        waits += trace.waits.size();
        for (const TraceSample& sample : trace.samples) ++kinds[static_cast<std::size_t>(sample.lca_kind)];
    }
    if (threads == 0) return "";
    std::string line = fmt::format("trace: {} of {}", plural(samples, "sample"), plural(threads, "thread"));
    if (dropped != 0) line += fmt::format(" ({} more thinned out)", count(static_cast<double>(dropped)));
    if (waits != 0) line += fmt::format(", {}", plural(waits, "long wait"));
    const auto share = [&](LcaKind kind) {
        const auto n = static_cast<double>(kinds[static_cast<std::size_t>(kind)]);
        return percent(samples == 0 ? 0 : n / static_cast<double>(samples));
    };
    return line + fmt::format(", common ancestors exact {}, bound {}, unknown {}", share(LcaKind::Exact), share(LcaKind::Bound), share(LcaKind::Unknown));
}

/// How many iterations and windows have their events.
std::string events_text(const Profile& profile) {
    std::uint64_t kept = 0, dropped = 0, too_large = 0, threads = 0, events = 0, stride = 0;
    for (const Location& location : profile.locations) {
        const KeptEvents& own = location.events;
        if (own.stride == 0) continue;
        ++threads;
        kept += own.parts.size();
        dropped += own.dropped_parts;
        too_large += own.too_large;
        events += own.intervals.size() + own.messages.size() + own.inners.size();
        events += own.tasks.size() + own.dependences.size() + own.runs.size() + own.groups.size() + own.counts.size();
        stride = std::max(stride, own.stride);
    }
    if (threads == 0) return "";
    std::string line = fmt::format("events: {} of {}, in {} of {} iterations and windows", count(static_cast<double>(events)), plural(threads, "thread"),
                                   count(static_cast<double>(kept)), count(static_cast<double>(kept + dropped)));
    if (stride > 1) line += fmt::format(" (on all ranks those whose number is a multiple of {})", stride);
    if (too_large != 0) line += fmt::format("; {} had more than LIBPROFILE_TRACE_MEMORY has room for", count(static_cast<double>(too_large)));
    return line;
}

/// Sums over the ranks; the memory of the one with most.
struct Cost {
    std::uint64_t taken = 0, inside = 0, lost = 0, sampled = 0, memory = 0,
                  written = 0;                                        // inside: samples that hit libprofile itself; sampled: ns that samples stand for
    double wall = 0, overhead = 0, not_recorded = 0, partly_seen = 0; // ns; partly_seen: regions and OpenMP
};

Cost cost_of(const Profile& profile, const std::vector<const Location*>& locations) {
    Cost cost;
    for (const auto& [rank, info] : profile.ranks) {
        cost.taken += info.samples_taken;
        cost.inside += info.skipped[static_cast<std::size_t>(SkipReason::InTool)];
        cost.lost += info.samples_lost;
        cost.sampled += sampled_time(info.samples_taken + info.samples_lost, info.rate, UINT64_MAX);
        cost.memory = std::max(cost.memory, info.memory_peak);
        cost.written += info.bytes_written;
    }
    for (const Location* location : locations) {
        if (location == nullptr) continue;
        const MetricValues values = totals(profile, *location);
        const auto value = [&](CatalogueId id) { return static_cast<double>(values[static_cast<std::size_t>(id)]); };
        cost.wall += value(CatalogueId::Total);
        cost.overhead += value(CatalogueId::Overhead);
        cost.not_recorded += value(CatalogueId::NotRecorded);
        cost.partly_seen += value(CatalogueId::OpenMp) + value(CatalogueId::RegionTime);
        const auto info = profile.ranks.find(location->rank);
        if (info == profile.ranks.end() || info->second.checkpoint) continue; // a snapshot is part of the measurement
        cost.wall += static_cast<double>(info->second.writing_ns);
        cost.overhead += static_cast<double>(info->second.writing_ns);
    }
    return cost;
}

double share_of(const Cost& cost) { return cost.wall == 0 ? 0 : cost.overhead / cost.wall; }

/// As on the job's exit line.
std::string own_share_text(const Cost& cost) {
    const std::string booked = percent(share_of(cost)) + " of the time";
    const bool is_bound =
        is_lower_bound(static_cast<std::uint64_t>(cost.overhead), static_cast<std::uint64_t>(cost.wall), cost.not_recorded + cost.partly_seen > 0);
    const std::uint64_t sampled = std::min(cost.sampled, static_cast<std::uint64_t>(cost.wall));
    if (!do_samples_say_more(cost.inside, cost.taken, static_cast<std::uint64_t>(cost.overhead), sampled)) return (is_bound ? "at least " : "about ") + booked;
    return fmt::format("{} of the samples hit libprofile itself (it measured {})", percent(static_cast<double>(cost.inside) / static_cast<double>(cost.taken)),
                       booked);
}

std::string samples_text(const Profile& profile, const Cost& cost) {
    std::string line = fmt::format("{} taken, {} lost", plural(cost.taken, "sample"), count(static_cast<double>(cost.lost)));
    if (cost.lost != 0) line += fmt::format(" ({})", percent(static_cast<double>(cost.lost) / static_cast<double>(cost.taken + cost.lost)));
    if (const std::string how = sampling_text(profile); !how.empty()) line += "; " + how;
    return line;
}

} // namespace

double own_share(const Profile& profile, const std::vector<const Location*>& locations) { return share_of(cost_of(profile, locations)); }

Finding what_it_cost(const Profile& profile, const std::vector<const Location*>& locations) {
    Finding finding{"cost", "What libprofile cost", {}};
    const Cost cost = cost_of(profile, locations);
    std::string line = own_share_text(cost);
    if (cost.memory != 0)
        line += fmt::format(", up to {} of memory per process, {} of files", byte_size(static_cast<double>(cost.memory)),
                            byte_size(static_cast<double>(cost.written)));
    finding.sentences = {line, samples_text(profile, cost)};
    for (std::string text : {skips_text(profile), trace_text(profile), events_text(profile)})
        if (!text.empty()) finding.sentences.push_back(std::move(text));
    // A function's share has the error of a share of so many hits.
    constexpr std::uint64_t few = 1000;
    if (cost.taken != 0 && cost.taken < few)
        finding.sentences.push_back(fmt::format("few samples: shares of functions below about {} are within the sampling error",
                                                percent(std::min(1.0, 10 / static_cast<double>(std::max<std::uint64_t>(cost.taken, 10))))));
    if (cost.not_recorded > 0)
        finding.sentences.push_back(fmt::format("{} of the time was not recorded (MPI_Pcontrol, LIBPROFILE_START{})", percent(cost.not_recorded / cost.wall),
                                                has_checkpoints(profile) ? "; what killed ranks did outside of closed iterations" : ""));
    return finding;
}

} // namespace libprofile::tools
