#include "tools/diagnosis/wording.hpp"

#include "tools/diagnosis/message_partners.hpp"
#include "tools/diagnosis/seats.hpp"
#include "tools/diagnosis/stretches.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"
#include "tools/text/shell.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

namespace libprofile::tools {

namespace {

constexpr std::size_t shown_iterations = 4; // ranges of them

std::string time(double ns) { return duration(ns, {}); }

std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
}

/// Means are per iteration, where there are iterations.
const char* each(const Diagnosis& d) { return d.is_whole_run ? "" : " an iteration"; }

std::vector<std::uint64_t> wide(const std::vector<std::uint32_t>& numbers) { return {numbers.begin(), numbers.end()}; }

/// " (node3)" where all of the ranks, and not all of the job, are on one host.
std::string host_of(const Profile& profile, const std::vector<std::uint32_t>& ranks) {
    std::set<std::string> hosts, all;
    for (const auto& [rank, info] : profile.ranks) all.insert(info.host);
    for (const std::uint32_t rank : ranks)
        if (const auto at = profile.ranks.find(rank); at != profile.ranks.end()) hosts.insert(at->second.host);
    return hosts.size() == 1 && all.size() > 1 ? fmt::format(" ({})", printable(*hosts.begin())) : "";
}

std::string who(const Profile& profile, const Diagnosis& d) {
    if (d.ranks.empty()) return profile.ranks.size() == 1 ? "The rank" : "All ranks";
    if (d.moves)
        return d.ranks.size() == profile.ranks.size() ? "Now one rank and now another"
                                                      : fmt::format("Now one and now another of {}", rank_words(wide(d.ranks)));
    return capital(rank_words(wide(d.ranks))) + host_of(profile, d.ranks);
}
bool is_one(const Diagnosis& d, const Profile& profile) { return d.moves || d.ranks.size() == 1 || (d.ranks.empty() && profile.ranks.size() == 1); }

/// "second", "3rd", "20th".
std::string ordinal(std::size_t n) {
    if (n == 2) return "second";
    const bool is_teen = n / 10 % 10 == 1;
    return fmt::format("{}{}", n, is_teen || n % 10 == 0 || n % 10 > 3 ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : "rd");
}

/// ", in every 20th iteration (from 7)", ", in 2 of every 12 iterations (from 2: 2, 7, 14, 19, ...)"; nothing if in all.
std::string every_few(const std::vector<std::uint64_t>& numbers, std::size_t period) {
    std::vector<bool> has(period);
    for (const std::uint64_t n : numbers) has[n % period] = true;
    has.resize(period = smallest_period(has));
    const auto a_time = std::count(has.begin(), has.end(), true);
    if (period == 1) return "";
    if (a_time == 1) return fmt::format(", in every {} iteration (from {})", ordinal(period), numbers.front());
    std::size_t begins = 0; // of neighbours
    for (std::size_t place = 0; place < period; ++place) begins += has[place] && !has[(place + period - 1) % period] ? 1 : 0;
    std::string which;
    for (std::size_t k = 0; begins > 1 && k < std::min(numbers.size(), shown_iterations); ++k) which += fmt::format("{}{}", k == 0 ? ": " : ", ", numbers[k]);
    if (begins > 1 && numbers.size() > shown_iterations) which += ", ...";
    return fmt::format(", in {} of every {} iterations (from {}{})", a_time, period, numbers.front(), which);
}

/// ", iterations 100-200".
std::string when(const Diagnosis& d) {
    const std::string around = d.moves && d.period > 1 ? fmt::format("; it goes around the ranks in {} iterations", d.period) : "";
    if (d.is_whole_run || d.iterations.empty()) return around;
    std::vector<std::uint64_t> numbers;
    for (const std::uint64_t i : d.iterations) numbers.push_back(i + 1);
    if (d.moves)
        return fmt::format(", in {}", plural(numbers.size(), "iteration")) +
               (numbers.size() > 20 ? "" : fmt::format(" ({})", number_ranges(numbers, shown_iterations))) + around;
    switch (d.pattern) {
    case PatternKind::Steady: return "";
    case PatternKind::Growing: return fmt::format(", more and more up to iteration {}", count(static_cast<double>(numbers.back())));
    case PatternKind::Shrinking: return fmt::format(", less and less up to iteration {}", count(static_cast<double>(numbers.back())));
    case PatternKind::Periodic:
        if (numbers.size() > 1 && d.period > 1) return every_few(numbers, d.period);
        break;
    case PatternKind::WarmUp:
        return numbers.size() == 1 ? fmt::format(", in iteration {}", numbers[0]) : fmt::format(", in iterations {}", number_ranges(numbers, shown_iterations));
    case PatternKind::Range: return fmt::format(", iterations {}", number_ranges(numbers, shown_iterations));
    case PatternKind::Scattered: break;
    }
    return fmt::format(", in {} ({})", plural(numbers.size(), "iteration"), number_ranges(numbers, shown_iterations));
}

/// "41 % longer than the others", "3.4 times as long as the others".
std::string more(const Evidence& e, const std::string& others, const Diagnosis& d) {
    if (e.local_there <= 0.01 * e.local_here) return fmt::format("{}{} longer than {}", time(e.excess()), each(d), others);
    const double ratio = e.local_here / e.local_there;
    return ratio >= 2 ? fmt::format("{:.{}f} times as long as {}", ratio, ratio < 9.95 ? 1 : 0, others)
                      : fmt::format("{} longer than {}", percent(ratio - 1), others);
}

std::vector<std::string> call_path_of(const Profile& profile, std::uint32_t path) {
    std::vector<std::string> names;
    for (std::uint32_t p = path; p != 0; p = profile.paths[p].parent) {
        const std::string name = printable(short_function_name(label_of(profile, profile.paths[p]).name));
        if (names.empty() || names.back() != name) names.push_back(name);
    }
    std::reverse(names.begin(), names.end());
    return names;
}

std::string place_of(const Spot& spot) {
    return printable(spot_text(spot)) + (spot.source.empty() ? "" : fmt::format(" ({})", printable(base_name(spot.source))));
}

void name_call(const Profile& profile, const NamedSpots& names, const SpotDifference& top, Diagnosis& d) {
    const Spot& spot = names.table.spots[top.spot];
    d.function = printable(spot_text(spot));
    d.source = printable(spot.source);
    d.call_path = call_path_of(profile, top.path);
}

/// " called by g" for a function that is called elsewhere, too.
std::string caller_of(const std::vector<FunctionNode>& nodes, std::uint32_t node) {
    const auto is_inside = [&](std::uint32_t inner, std::uint32_t outer) {
        while (inner != 0 && inner != outer) inner = static_cast<std::uint32_t>(nodes[inner].parent);
        return inner == outer;
    };
    const auto is_elsewhere = [&](std::uint32_t n) {
        return nodes[n].kind == nodes[node].kind && nodes[n].name == nodes[node].name && !is_inside(n, node) && !is_inside(node, n);
    };
    std::uint32_t other = 1;
    while (other < nodes.size() && !is_elsewhere(other)) ++other;
    if (other == nodes.size()) return "";
    for (auto n = static_cast<std::uint32_t>(nodes[node].parent); n != 0; n = static_cast<std::uint32_t>(nodes[n].parent))
        if ((nodes[n].kind == NodeKind::Frame || nodes[n].kind == NodeKind::Python) && nodes[n].name != nodes[node].name)
            return " called by " + printable(without_anonymous(nodes[n].name));
    return "";
}

/// " in f (f.cpp:12)"; the function of the diagnosis is this one.
std::string in_function(const NamedSpots& names, std::uint32_t function, Diagnosis& d) {
    const std::vector<FunctionNode>& nodes = names.tree.nodes;
    for (std::uint32_t n = function; n != 0; n = static_cast<std::uint32_t>(nodes[n].parent)) d.call_path.push_back(printable(nodes[n].name));
    std::reverse(d.call_path.begin(), d.call_path.end());
    const FunctionNode& node = nodes[function];
    d.function = printable(without_anonymous(node.name));
    d.source = printable(node.source);
    return fmt::format(" in {}{}{}", d.function, d.source.empty() ? "" : fmt::format(" ({})", base_name(d.source)), caller_of(nodes, function));
}

/// Where one function has most of the excess, or calls the one that waits for files.
std::string where(const NamedSpots& names, const Evidence& e, Diagnosis& d) {
    if (d.cause == Cause::InputOutput && e.files.is_told && e.files.caller != 0) return in_function(names, e.files.caller, d);
    return e.function.tells() ? in_function(names, e.function.node, d) : "";
}

/// @param place of the function that may have it
std::string work_or_processor(const std::string& place, const Diagnosis& d) {
    return fmt::format(", by more work{} or {}", place.empty() ? "" : fmt::format(", perhaps{},", place),
                       d.ranks.size() == 1 ? "a slower processor" : "slower processors");
}

bool has_trace(const IterationMatrix& matrix) {
    return std::any_of(matrix.locations.begin(), matrix.locations.end(),
                       [](const Location* location) { return location != nullptr && !location->trace.samples.empty(); });
}

std::string waiting(const Profile& profile, const Evidence& e, const NamedSpots& names, Diagnosis& d) {
    if (e.waits.empty() || d.moves) return "";
    const Spot& spot = names.table.spots[e.waits[0].spot];
    d.waits_in = printable(spot_text(spot));
    if (e.waiting_ranks == 0) return "";
    const std::string them = profile.ranks.size() == 2 ? "the other rank waits"
                             : e.waiting_ranks == 1    ? "one rank waits"
                                                       : fmt::format("{} ranks wait", count(static_cast<double>(e.waiting_ranks)));
    return fmt::format("; {} in {}", them, place_of(spot));
}

std::string phase_words(const Profile& profile, const Diagnosis& d) { return d.is_whole_run ? "" : " --phase " + shell_word(profile.phases[d.phase].name); }

/// A range of iterations of the suspect, and one of others beside it.
std::string compared_iterations(const Diagnosis& d, std::size_t first, std::size_t iterations) {
    if (d.pattern == PatternKind::Growing || d.pattern == PatternKind::Shrinking) {
        const std::size_t tenth = std::max<std::size_t>(1, iterations / 10);
        return fmt::format("{}:{} {}:{}", first + 1, first + tenth, first + iterations - tenth + 1, first + iterations);
    }
    const Stretch own = longest_stretch(d.iterations);
    const Stretch others = stretch_beside(own, d.iterations, {first, first + iterations});
    if (others.length() == 0) return "";
    return fmt::format("{}:{} {}:{}", own.begin + 1, own.end, others.begin + 1, others.end);
}

std::string rank_list(const std::vector<std::uint32_t>& ranks) {
    std::string text = number_ranges(wide(ranks), 100);
    std::erase(text, ' ');
    return text;
}

void add_counts(const Evidence& e, Diagnosis& d) {
    if (e.calls_here == 0 && e.calls_there == 0) return;
    const char* there = e.compares_ranks ? "the others" : "in the other iterations";
    if (e.same_calls())
        d.evidence.push_back(fmt::format("same messages and bytes as {}", there));
    else
        d.evidence.push_back(fmt::format("{} messages and collective calls{}, {} ({} and {})", count(e.calls_here), each(d),
                                         fmt::format("{} {}", count(e.calls_there), e.compares_ranks ? "on the others" : "in the other iterations"),
                                         byte_size(e.bytes_here), byte_size(e.bytes_there)));
}

void add_parts(const NamedSpots& names, const Evidence& e, Diagnosis& d) {
    const double excess = e.excess();
    std::string text = fmt::format("{} of own time{} instead of {}", time(e.local_here), each(d), time(e.local_there));
    if (excess > 0) {
        std::string parts;
        for (const auto& [name, part] : {std::pair("off CPU", e.off_cpu), std::pair("MPI file I/O", e.file_io), std::pair("OpenMP", e.threads)})
            if (part > 0.2 * excess) parts += fmt::format("{}{} of it {}", parts.empty() ? "" : ", ", percent(std::min(1.0, part / excess)), name);
        if (!parts.empty()) text += ": " + parts;
    }
    d.evidence.push_back(text);
    if (d.function.empty() && excess > 0 && e.function.node != 0 && e.function.difference() <= e.function.error)
        d.evidence.push_back("there are too few samples to tell in which function");
    if (!d.function.empty() && e.function.tells() && d.function == printable(without_anonymous(names.tree.nodes[e.function.node].name)))
        d.evidence.push_back(fmt::format("{}, with all that it calls: {}{} instead of {}{}", d.function, time(e.function.here), each(d), time(e.function.there),
                                         e.function.error == 0 ? "" : fmt::format(" (+- {} by samples)", time(e.function.error))) +
                             (e.function.is_of_ranks ? " on the other ranks, in all iterations" : ""));
}

std::string crowd_text(const Crowd& crowd) {
    return fmt::format("{} {} might use {} only, with {} that work: if all have work, some wait for a processor", rank_words(wide(crowd.ranks)),
                       crowd.ranks.size() == 1 ? "alone" : "together", processors_text(crowd), plural(crowd.threads, "thread"));
}

} // namespace

void word_suspect(const Profile& profile, const IterationMatrix& matrix, const Suspect& suspect, const Evidence& e, const NamedSpots& names,
                  const std::vector<Crowd>& crowded, Diagnosis& d) {
    const std::string subject = who(profile, d), verb_s = is_one(d, profile) ? "s" : "";
    const bool is_all = suspect.kind == SuspectKind::AllRanks || suspect.kind == SuspectKind::Communication;
    const char* others = suspect.kind == SuspectKind::UnevenRanks                             ? "the quarter with least"
                         : e.compares_ranks                                                   ? (profile.ranks.size() == 2 ? "the other" : "the others")
                         : d.cause == Cause::WarmUp                                           ? "later"
                         : d.pattern == PatternKind::Shrinking                                ? "in the end"
                         : d.cause == Cause::GrowingWork || d.pattern == PatternKind::Growing ? "at first"
                                                                                              : "in other iterations";
    const bool is_hidden = suspect.function.node != 0 && e.excess() < 0.5 * e.expected; // what else there is became shorter meanwhile
    const std::string longer = is_hidden ? fmt::format("{}{} longer than {}", time(e.expected), each(d), others) : more(e, others, d);
    const std::string place = where(names, e, d);
    d.alternative = alternative_to(d.cause, suspect, e);
    const bool computes = e.is_mostly_computing();
    const std::string do_it = fmt::format("{}{}", computes ? "compute" : "take", verb_s), time_too = computes ? "" : " time";
    switch (d.cause) {
    case Cause::SlowMachine:
        d.sentence = fmt::format("{} {} {} in all functions{}{}", subject, do_it, longer, when(d), waiting(profile, e, names, d));
        d.evidence.push_back(fmt::format(
            "all functions are longer by a factor of {:.2f}, within the error of their samples: a slow processor, or a larger share of the data{}", e.factor,
            d.alternative ? "; more work in one of them is less likely, but not ruled out (LIBPROFILE_METRICS=perf::INSTRUCTIONS tells)" : ""));
        if (e.instructions_known())
            d.evidence.push_back(
                fmt::format("{} instructions{} instead of {}: the same work", count(e.instructions_here), each(d), count(e.instructions_there)));
        if (std::string seats = seats_text(profile, d.ranks); !seats.empty()) d.evidence.push_back(std::move(seats));
        break;
    case Cause::Noise:
        d.sentence = fmt::format("{} take{} {}{}{}", subject, verb_s, longer, when(d), waiting(profile, e, names, d));
        d.evidence.push_back("no function has more of it than its usual share: more work everywhere and a slow processor or memory look alike");
        break;
    case Cause::InputOutput:
        d.sentence = fmt::format("{} read{} or write{} files{}{}{}", subject, verb_s, verb_s, place, when(d), waiting(profile, e, names, d));
        if (e.files.is_told && e.files.place != 0)
            d.evidence.push_back(fmt::format("{} is off the processor for {}{} and computes for {}; of functions that sleep, samples in it are in {} only",
                                             printable(without_anonymous(names.tree.nodes[e.files.place].name)), time(e.files.place_off), each(d),
                                             time(e.files.place_on), printable(without_anonymous(names.tree.nodes[e.files.function].name))));
        else if (e.files.is_told)
            d.evidence.push_back(fmt::format("it is off the processor for {}{}, and samples are in {} only {}: {} of processor time instead of {}",
                                             time(e.off_cpu), each(d), printable(without_anonymous(names.tree.nodes[e.files.function].name)),
                                             e.compares_ranks ? "there" : "then", time(e.files.here), time(e.files.there)));
        else
            d.evidence.push_back(fmt::format("{}{} in input and output functions", time(e.io), each(d)));
        break;
    case Cause::Oversubscribed:
    case Cause::OffProcessor:
        d.sentence = fmt::format("{} {} off the processor {}{} longer{}{}{}", subject, is_one(d, profile) ? "is" : "are", time(e.off_cpu), each(d), place,
                                 when(d), waiting(profile, e, names, d));
        if (const Crowd* crowd = crowd_of(crowded, d.ranks, profile); crowd != nullptr)
            d.evidence.push_back(crowd_text(*crowd));
        else if (e.files.function != 0)
            d.evidence.push_back(fmt::format(
                "it may wait for files: the few samples in functions that sleep are {}, in {} called by {}", e.compares_ranks ? "there" : "in these iterations",
                printable(without_anonymous(names.tree.nodes[e.files.function].name)), printable(without_anonymous(names.tree.nodes[e.files.caller].name))));
        else
            d.evidence.push_back("others have the processor, or it waits for files, locks or sleep; LIBPROFILE_METRICS=voluntary_context_switches tells which");
        break;
    case Cause::UnequalThreads:
        d.sentence =
            fmt::format("{} wait{} {}{} longer for threads{}{}{}", subject, verb_s, time(e.threads), each(d), place, when(d), waiting(profile, e, names, d));
        break;
    case Cause::Serialisation:
        d.sentence = fmt::format("{} work{} on what the others send, {}{}{}{}", subject, verb_s, longer, place, when(d), waiting(profile, e, names, d));
        d.evidence.push_back(fmt::format("it receives {}{} there, {} {}: the gain is that of each rank doing its own part", byte_size(e.received_here), each(d),
                                         byte_size(e.received_there), e.compares_ranks ? "each of the others" : "in the other iterations"));
        break;
    case Cause::LateRoot: d.sentence = fmt::format("{}, the root, {} {}{}{}{}", subject, do_it, longer, place, when(d), waiting(profile, e, names, d)); break;
    case Cause::CommunicationVolume:
    case Cause::SlowCommunication: {
        d.function.clear();
        std::string in;
        if (!e.mpi_of_all.empty() && e.mpi_of_all[0].difference() > 0) {
            name_call(profile, names, e.mpi_of_all[0], d);
            in = " in " + place_of(names.table.spots[e.mpi_of_all[0].spot]);
        }
        d.sentence = d.cause == Cause::CommunicationVolume ? fmt::format("All ranks communicate {} instead of {} an iteration{}{}", byte_size(e.bytes_here),
                                                                         byte_size(e.bytes_there), in, when(d))
                                                           : fmt::format("All ranks {} {} an iteration longer{}{}{}", e.same_calls() ? "need" : "are",
                                                                         time(e.mpi), e.same_calls() ? " for the same communication" : " in MPI", in, when(d));
        if (d.cause == Cause::SlowCommunication && e.has_more_bytes())
            d.evidence.push_back(fmt::format("{} more would take some {}", byte_size(e.bytes_here - e.bytes_there), time(e.time_of_more_bytes())));
        break;
    }
    case Cause::GrowingWork: d.sentence = fmt::format("{} {} more and more{}{}: {} in the end", subject, do_it, time_too, place, longer); break;
    case Cause::ShrinkingWork: d.sentence = fmt::format("{} {} less and less{}{}: {} at first", subject, do_it, time_too, place, longer); break;
    case Cause::WarmUp: d.sentence = fmt::format("{} take{} {}{}{}", subject, verb_s, longer, place, when(d)); break;
    default:
        if (suspect.kind == SuspectKind::UnevenRanks)
            d.sentence = fmt::format("Ranks {}: {} {}{} {}{}{}", computes ? "have unequal work" : "take unequally long", rank_words(wide(d.ranks), 4),
                                     computes ? "compute" : "take", d.ranks.size() == 1 ? "s" : "", longer, place, when(d));
        else
            d.sentence = fmt::format("{} {} {}{}{}{}", subject, do_it, longer, d.alternative ? work_or_processor(place, d) : place, when(d),
                                     waiting(profile, e, names, d));
    }
    if (d.cause == Cause::Imbalance && d.alternative) {
        d.evidence.push_back("samples do not tell more work from a slower processor here; counted instructions do (LIBPROFILE_METRICS=perf::INSTRUCTIONS)");
        if (std::string seats = seats_text(profile, d.ranks); !seats.empty()) d.evidence.push_back(std::move(seats));
    }
    if (is_all && computes && place.empty() && (d.cause == Cause::GrowingWork || d.cause == Cause::ShrinkingWork))
        d.evidence.push_back(has_trace(matrix) ? "samples do not tell the function"
                                               : "samples do not tell the function: they have no time of their own (LIBPROFILE_TRACE=1 keeps it)");
    if (suspect.kind != SuspectKind::Communication) add_parts(names, e, d);
    if (is_hidden)
        d.evidence.push_back(fmt::format("told by the function's share of the samples; all else took {}{} less {} than {}", time(e.expected - e.excess()),
                                         each(d), d.cause == Cause::GrowingWork ? "in the end" : "at first", others));
    add_counts(e, d);
    if (!is_all && matrix.ranks() > 1)
        d.evidence.push_back(e.coupling >= 0.5
                                 ? fmt::format("the others wait in MPI for {} of the time that this makes them wait", percent(e.coupling))
                                 : fmt::format("the others wait in MPI for only {} of the time that this should make them wait: they may not depend on it",
                                               percent(e.coupling)));
    if (matrix.is_estimated) d.evidence.push_back("single iterations were not kept: their values are means of their cluster");
    if (e.compares_ranks || (e.function.is_of_ranks && e.function.tells()))
        d.next = fmt::format("--compare rank={} rest{}", rank_list(d.ranks), phase_words(profile, d));
    else if (const std::string sides = d.iterations.empty() || d.moves ? "" : compared_iterations(d, matrix.first, matrix.iterations()); !sides.empty())
        d.next = fmt::format("--compare {}{}{}", sides, phase_words(profile, d), d.ranks.empty() ? "" : " --rank " + rank_list(d.ranks));
    else
        d.next = "--bottom-up" + phase_words(profile, d);
}

void word_order(const Profile& profile, const IterationMatrix& matrix, const OrderLoss& loss, const NamedSpots& names, Diagnosis& d) {
    const Spot& spot = names.table.spots[loss.spot];
    std::vector<std::uint32_t> waits;
    for (const std::size_t row : loss.waits) waits.push_back(matrix.locations[row]->rank);
    d.waits_in = printable(spot_text(spot));
    d.call_path = call_path_of(profile, loss.path);
    d.function = d.waits_in;
    d.source = printable(spot.source);
    const double iterations = static_cast<double>(matrix.iterations());
    const std::string them =
        fmt::format("{} wait{} {}{} in {}", rank_words(wide(waits)), waits.size() == 1 ? "s" : "", time(loss.waiting / iterations), each(d), place_of(spot));
    switch (loss.cause) {
    case Cause::Serialisation:
        if (loss.is_part) {
            d.sentence = fmt::format("Ranks do a part of their work one after another; {}", them);
            d.evidence.push_back("each rank waits a little longer than the one before it, up to that time, and the others wait as long elsewhere");
            break;
        }
        d.sentence = fmt::format("Ranks compute one after another: their computing times add up to the time of the iterations; {}", them);
        d.evidence.push_back("no rank has more than 65 % of the work, and one works at a time");
        break;
    case Cause::LateSender: d.sentence = fmt::format("{}, for messages that {} could send earlier", capital(them), rank_words(wide(d.ranks))); break;
    case Cause::LateReceiver:
        d.sentence = fmt::format("{}, until {} {} the messages", capital(them), rank_words(wide(d.ranks)), d.ranks.size() == 1 ? "receives" : "receive");
        break;
    case Cause::LateRoot: d.sentence = fmt::format("{}, for its root, {}", capital(them), rank_words(wide(d.ranks))); break;
    default: d.sentence = fmt::format("{}, though all ranks do the same in sum: between two synchronisations their work is unequal", capital(them)); break;
    }
    if (loss.cause != Cause::Serialisation)
        d.evidence.push_back("all ranks wait, not all in the same call, and none has longer iterations of its own that would explain it");
    const MessageDirection direction = loss.cause == Cause::LateReceiver ? MessageDirection::Sent : MessageDirection::Received;
    if (loss.cause == Cause::Serialisation || loss.cause == Cause::LateSender || loss.cause == Cause::LateReceiver)
        if (std::string partners = partners_there(profile, names.table, loss.spot, direction, waits); !partners.empty())
            d.evidence.push_back(std::move(partners));
    d.next = fmt::format("--metric mpi --path {}{}", shell_word(spot.name), phase_words(profile, d));
}

void word_crowd(const Crowd& crowd, std::uint32_t rank, double off_cpu, Diagnosis& d) {
    d.sentence = fmt::format("{} share {}: rank {} stands still for {} outside MPI", capital(rank_words(wide(crowd.ranks))), processors_text(crowd), rank,
                             time(off_cpu));
    d.evidence.push_back(crowd_text(crowd));
    d.next = "--bottom-up";
}

void word_threads(const Profile& profile, const ThreadLoss& loss, Diagnosis& d) {
    d.function = printable(without_anonymous(loss.function));
    d.source = printable(loss.source);
    if (loss.path != 0) d.call_path = call_path_of(profile, loss.path);
    const std::string in = fmt::format("in {}{}", d.function, d.source.empty() ? "" : fmt::format(" ({})", base_name(d.source)));
    if (loss.cause == Cause::ThreadLocks) {
        d.sentence = fmt::format("The {} threads of rank {} wait {} each {} for critical sections, locks, or their turn", loss.threads, loss.rank,
                                 time(loss.wait_ns), in);
        d.evidence.push_back(fmt::format("each works {} there", time(loss.mean_ns)));
        d.next = "--threads --path " + shell_word(d.function);
    } else if (loss.cause == Cause::UnequalThreads && loss.is_in_turn) {
        d.sentence = fmt::format("The {} threads of rank {} wait {} each in the barriers {}: now one and now another has more to do", loss.threads, loss.rank,
                                 time(loss.wait_ns), in);
        d.evidence.push_back(fmt::format("each works {} there, none of them much more than the others: single constructs, or parts that are unequal in turn",
                                         time(loss.mean_ns)));
        d.next = "--threads --path " + shell_word(d.function);
    } else if (loss.cause == Cause::UnequalThreads) {
        d.sentence = fmt::format("Thread {} of rank {} works {} {}, the {} threads of the team {} on average; the others wait in its barriers", loss.busiest,
                                 loss.rank, time(loss.busiest_ns), in, loss.threads, time(loss.mean_ns));
        d.next = "--threads --path " + shell_word(d.function);
    } else {
        d.sentence =
            fmt::format("Worker threads of rank {} are idle for {} between parallel regions: the main thread works alone", loss.rank, time(loss.idle_ns));
        d.evidence.push_back("how much of that work could be divided up is not known");
        d.next = "--bottom-up";
    }
}

} // namespace libprofile::tools
