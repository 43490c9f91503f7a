#include "tools/report/choice.hpp"

#include "tools/analysis/totals.hpp"
#include "tools/names/labels.hpp"
#include "tools/names/loop_names.hpp"
#include "tools/names/resolve.hpp"
#include "tools/text/nearest.hpp"
#include "tools/text/number_list.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace libprofile::tools {

namespace {

using Kind = CompareSide::Kind;

/// "; did you mean "time"?", or nothing.
std::string suggestion(const std::string& name, const std::vector<std::string>& names) {
    const std::string near = nearest_name(name, names);
    return near.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", printable(near));
}

std::string range_text(IterationRange range, std::uint64_t iterations) {
    const std::uint64_t last = std::min(range.last, std::max<std::uint64_t>(iterations, 1) - 1);
    return range.first == last ? fmt::format("iteration {}", last + 1) : fmt::format("iterations {}-{}", range.first + 1, last + 1);
}

std::vector<std::uint64_t> wide(const std::vector<std::uint32_t>& numbers) { return {numbers.begin(), numbers.end()}; }

/// Names of the file's metrics that rows of the catalogue are made from; nothing where a name is none of the catalogue.
std::optional<std::set<std::string>> stored_metrics(const std::vector<std::string>& names) {
    // The tree of functions is made by time and visits.
    std::set<std::string> stored = {"time", "visits"};
    for (const std::string& name : names) {
        bool found = false;
        for (const CatalogueRow& row : metric_catalogue) {
            CatalogueId up = row.id; // the row itself and all above it
            while (up != CatalogueId::None && metric_catalogue[static_cast<std::size_t>(up)].name != name)
                up = metric_catalogue[static_cast<std::size_t>(up)].parent;
            if (up == CatalogueId::None) continue;
            found = true;
            if (row.kind == CatalogueKind::Direct) stored.insert(row.name);
        }
        if (!found) return std::nullopt;
    }
    return stored;
}

Selection selection_of(const ReportChoice& choice) {
    Selection selection;
    selection.ranks.insert(choice.ranks.begin(), choice.ranks.end());
    if (choice.compares_ranks() && choice.compare[1].kind == Kind::Ranks)
        for (const CompareSide& side : choice.compare) selection.ranks.insert(side.ranks.begin(), side.ranks.end());
    if (!choice.metrics.empty())
        if (const auto stored = stored_metrics(choice.metrics)) selection.metrics = *stored;
    if (!choice.source.empty() && !selection.metrics.empty()) selection.metrics.insert("samples"); // each line has them
    selection.series = choice.has_iterations();
    selection.events = choice.tasks || choice.correlations;
    return selection;
}

std::uint32_t find_phase_of(const Profile& profile, const ReportChoice& choice) {
    std::vector<std::uint64_t> wall(profile.phases.size());
    for (const Location& location : profile.locations)
        for (const PhaseData& data : location.phases) wall[data.phase] += data.wall_inclusive_ns;
    const bool iterates = choice.has_iterations();
    std::uint32_t found = FoundChoice::all_phases;
    std::vector<std::string> names;
    for (std::uint32_t p = 0; p < profile.phases.size(); ++p) {
        const Phase& phase = profile.phases[p];
        if (!phase.name.empty()) names.push_back(phase.name);
        if (choice.phase ? phase.is_called(*choice.phase) && (!iterates || phase.kind == PhaseKind::Iterations)
                         : phase.kind == PhaseKind::Iterations && !phase.is_frame && (found == FoundChoice::all_phases || wall[p] > wall[found]))
            found = p;
    }
    if (found != FoundChoice::all_phases) return found;
    if (!choice.phase) throw SelectionError("the profile has no iterations to choose from; mark the loop in the program (docs/getting-started.md)");
    if (choice.phase->empty()) throw SelectionError("what lies outside all phases has no iterations");
    if (std::find(names.begin(), names.end(), *choice.phase) != names.end())
        throw SelectionError(fmt::format("the phase \"{}\" has no iterations", printable(*choice.phase)));
    std::string known;
    for (const std::string& name : names)
        if (known.size() < 200) known += fmt::format("{}\"{}\"", known.empty() ? "" : ", ", printable(name));
    throw SelectionError(fmt::format("there is no phase \"{}\"{}; the profile has {}", printable(*choice.phase), suggestion(*choice.phase, names),
                                     known.empty() ? "no phases that the program named" : "the phases " + known));
}

void check_iterations(const IterationRange& range, const Profile& profile, const FoundChoice& found) {
    const bool is_open = range.last == IterationRange().last;
    if (range.first < found.iterations && (is_open || range.last < found.iterations)) return;
    const std::uint64_t missing = range.first < found.iterations ? range.last : range.first;
    const std::string name = printable(profile.phases[found.phase].name);
    if (found.iterations == 0) throw SelectionError(fmt::format("the chosen ranks have no iterations of \"{}\"", name));
    throw SelectionError(fmt::format("\"{}\" has no iteration {}; it has the iterations 1:{}", name, missing + 1, found.iterations));
}

std::size_t find_row(const Profile& profile, const std::string& name) {
    const std::vector<MetricRow> rows = metric_rows(profile);
    std::vector<std::string> names;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        if (rows[r].name == name) return r;
        names.push_back(rows[r].name);
    }
    throw SelectionError(
        fmt::format("there is no metric \"{}\"{}; docs/metrics.md lists them, such as time, mpi, visits, bytes", printable(name), suggestion(name, names)));
}

void check_ranks(const Profile& profile, const std::vector<std::uint32_t>& ranks) {
    for (const std::uint32_t rank : ranks) {
        if (rank >= profile.job.ranks) throw SelectionError(fmt::format("there is no rank {}; the job had the ranks 0-{}", rank, profile.job.ranks - 1));
        if (!profile.ranks.contains(rank)) throw SelectionError(fmt::format("the profile is incomplete: it has no data of rank {}", rank));
    }
}

} // namespace

bool ReportChoice::is_whole() const {
    return !phase && metrics.empty() && ranks.empty() && path.empty() && top == 0 && !iterations && compare.empty() && !threads && !exclusive && !bottom_up &&
           source.empty() && !tasks && !correlations && !machine;
}

bool ReportChoice::has_iterations() const { return iterations.has_value() || (!compare.empty() && compare[0].kind == Kind::Iterations); }

std::optional<IterationRange> parse_iterations(std::string_view text) {
    const auto range = parse_range(text, 1);
    if (!range) return std::nullopt;
    const bool open = range->second == std::numeric_limits<std::uint64_t>::max();
    return IterationRange{range->first - 1, open ? range->second : range->second - 1};
}

CompareSide parse_side(const std::string& text) {
    if (text == "rest") return {Kind::Rest, {}, {}};
    for (const char* prefix : {"rank=", "ranks="})
        if (text.starts_with(prefix))
            if (const auto ranks = parse_number_list(std::string_view(text).substr(std::string_view(prefix).size()))) return {Kind::Ranks, {}, *ranks};
    if (const auto range = parse_iterations(text)) return {Kind::Iterations, *range, {}};
    throw SelectionError(fmt::format("--compare {} is neither iterations, such as 1:100, nor ranks, such as rank=0,4-7, nor rest", printable(text)));
}

void check(const ReportChoice& choice) {
    if (choice.machine) {
        ReportChoice others = choice;
        others.machine = false;
        if (!others.is_whole()) throw SelectionError("--machine shows the machines of the whole job; ask for other parts by themselves");
    }
    if (choice.correlations)
        for (const auto& [is_given, option, why] : {std::tuple(choice.bottom_up || !choice.source.empty() || choice.tasks || !choice.compare.empty(),
                                                               choice.tasks             ? "--tasks"
                                                               : choice.bottom_up       ? "--bottom-up"
                                                               : choice.compare.empty() ? "--source"
                                                                                        : "--compare",
                                                               "is another report; ask twice"),
                                                    std::tuple(!choice.path.empty(), "--path", "chooses call paths; --correlations shows functions"),
                                                    std::tuple(!choice.metrics.empty(), "--metric", "is for call paths; --correlations shows bytes"),
                                                    std::tuple(choice.threads, "--threads", "is not needed: calls of all threads are counted"),
                                                    std::tuple(choice.exclusive, "--exclusive", "is for call paths; --correlations takes whole iterations")})
            if (is_given) throw SelectionError(fmt::format("{} {}", option, why));
    if (choice.tasks)
        for (const auto& [is_given, option, why] :
             {std::tuple(choice.bottom_up || !choice.source.empty(), choice.bottom_up ? "--bottom-up" : "--source", "is another report; ask twice"),
              std::tuple(!choice.compare.empty(), "--compare", "shows metrics of call paths; ask for --tasks twice, with --rank or --iterations"),
              std::tuple(!choice.path.empty(), "--path", "chooses call paths; --tasks shows all types of tasks"),
              std::tuple(!choice.metrics.empty(), "--metric", "is for call paths; tasks have times only"),
              std::tuple(choice.threads, "--threads", "is not needed: tasks of all threads are shown"),
              std::tuple(choice.exclusive, "--exclusive", "is for call paths; --tasks shows whole iterations")})
            if (is_given) throw SelectionError(fmt::format("{} {}", option, why));
    if (choice.bottom_up && !choice.source.empty()) throw SelectionError("--bottom-up and --source are two reports; ask for one of them");
    if (!choice.compare.empty() && (choice.bottom_up || !choice.source.empty()))
        throw SelectionError(fmt::format("{} shows one selection; leave out --compare, or ask twice with --iterations or --rank",
                                         choice.bottom_up ? "--bottom-up" : "--source"));
    if (choice.compare.empty() && choice.exclusive && !choice.phase && !choice.iterations)
        throw SelectionError("--exclusive is for iterations; add --phase NAME or --iterations A:B");
    if (choice.compare.empty()) return;
    const CompareSide &a = choice.compare[0], &b = choice.compare[1];
    if (a.kind == Kind::Rest) throw SelectionError("write rest second, after the ranks it is compared with: --compare rank=3 rest");
    if (b.kind == Kind::Rest && a.kind != Kind::Ranks)
        throw SelectionError("rest is for ranks only; compare two ranges of iterations, such as --compare 1:100 900:1000");
    if (b.kind != Kind::Rest && a.kind != b.kind) throw SelectionError("--compare takes two ranges of iterations or two lists of ranks, not one of each");
    if (a.kind == Kind::Iterations && choice.iterations) throw SelectionError("--compare chooses the iterations itself; leave out --iterations");
    if (a.kind == Kind::Ranks && choice.exclusive && !choice.phase && !choice.iterations)
        throw SelectionError("--exclusive is for iterations; add --phase NAME or --iterations A:B");
    if (a.kind == Kind::Ranks && !choice.ranks.empty()) throw SelectionError("--compare chooses the ranks itself; leave out --rank");
}

Profile read_chosen(const std::filesystem::path& path, const ReportChoice& choice) {
    const Selection selection = selection_of(choice);
    try {
        Profile profile = read_profile(path, selection);
        if (choice.phase && choice.phase->starts_with(loop_name_start)) resolve_names(profile, false);
        find_choice(profile, choice);
        return profile;
    } catch (const ReadError&) {
        // The parts may hold nothing though the whole does.
    } catch (const SelectionError&) {
        // What was left out may be what the message has to name.
    }
    Profile all = read_profile(path);
    resolve_names(all, false);
    find_choice(all, choice);
    return all;
}

FoundChoice find_choice(const Profile& profile, const ReportChoice& choice) {
    FoundChoice found;
    check_ranks(profile, choice.ranks);
    for (const CompareSide& side : choice.compare) check_ranks(profile, side.ranks);
    for (const std::string& name : choice.metrics) {
        const std::size_t row = find_row(profile, name);
        if (std::find(found.rows.begin(), found.rows.end(), row) == found.rows.end()) found.rows.push_back(row);
    }
    if (found.rows.empty()) found.rows = {0};
    if (!choice.phase && !choice.has_iterations()) return found;
    found.phase = find_phase_of(profile, choice);
    for (const Location& location : profile.locations)
        if (const PhaseData* data = find_phase(&location, found.phase))
            if (choice.ranks.empty() || std::binary_search(choice.ranks.begin(), choice.ranks.end(), location.rank))
                found.iterations = std::max<std::uint64_t>(found.iterations, data->cluster_of_iteration.size());
    if (choice.iterations) check_iterations(*choice.iterations, profile, found);
    for (const CompareSide& side : choice.compare)
        if (side.kind == Kind::Iterations) check_iterations(side.iterations, profile, found);
    return found;
}

std::string scope_of(const Profile& profile, const ReportChoice& choice, const FoundChoice& found) {
    std::vector<std::string> parts;
    if (!choice.ranks.empty()) parts.push_back(rank_words(wide(choice.ranks)));
    if (found.phase != FoundChoice::all_phases) {
        const std::string name = printable(profile.phases[found.phase].name);
        const std::string phase = name.empty() ? "outside all phases" : fmt::format("\"{}\"", name);
        const bool has_inside = profile.phases[found.phase].kind == PhaseKind::Iterations;
        parts.push_back(choice.iterations ? range_text(*choice.iterations, found.iterations) + " of " + phase : name.empty() ? phase : "phase " + phase);
        if (choice.exclusive && has_inside) parts.back() += " without the phases inside";
    }
    if (!choice.path.empty()) parts.push_back(fmt::format("call paths with \"{}\"", printable(choice.path)));
    if (choice.threads) parts.push_back("all threads");
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
    return out;
}

std::string scope_of(const CompareSide& side, const CompareSide& other, const FoundChoice& found) {
    switch (side.kind) {
    case Kind::Iterations: return range_text(side.iterations, found.iterations);
    case Kind::Ranks: return rank_words(wide(side.ranks));
    default: return "all but " + rank_words(wide(other.ranks));
    }
}

} // namespace libprofile::tools
