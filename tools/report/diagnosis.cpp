#include "tools/report/diagnosis.hpp"

#include "tools/diagnosis/answers.hpp"
#include "tools/text/json_text.hpp"
#include "tools/text/phrases.hpp"
#include "tools/text/shell.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

std::string time(double ns) { return duration(ns, {}); }

double share(double ns, const DiagnosedRun& run) { return run.run_ns <= 0 ? 0 : ns / run.run_ns; }

/// Ranges [first, last] as users count them, from 1.
Json ranges_json(const std::vector<std::uint64_t>& iterations) {
    Json ranges = Json::array();
    for (std::size_t i = 0; i < iterations.size(); ++i) {
        const std::uint64_t first = iterations[i];
        while (i + 1 < iterations.size() && iterations[i + 1] == iterations[i] + 1) ++i;
        ranges.push_back({first + 1, iterations[i] + 1});
    }
    return ranges;
}

Json diagnosis_of(const Profile& profile, const Diagnosis& d, const DiagnosedRun& run, const std::string& folder) {
    Json json;
    json["cause"] = cause_name(d.cause);
    json["alternative"] = d.alternative ? Json(cause_name(*d.alternative)) : Json(nullptr);
    json["sentence"] = d.sentence;
    json["share"] = share(d.gain.value, run);
    json["gain"] = {{"ns", d.gain.value}, {"low_ns", d.gain.low}, {"high_ns", d.gain.high}};
    json["confidence"] = confidence_name(d.confidence);
    json["phase"] = d.is_whole_run ? Json(nullptr) : Json(profile.phases[d.phase].name);
    json["pattern"] = pattern_name(d.pattern);
    json["period"] = d.period != 0 ? Json(d.period) : Json(nullptr);
    json["iterations"] = d.iterations.empty() ? Json(nullptr) : ranges_json(d.iterations);
    json["ranks"] = d.ranks.empty() ? Json(nullptr) : Json(d.ranks);
    std::set<std::string> hosts;
    for (const std::uint32_t rank : d.ranks)
        if (const auto at = profile.ranks.find(rank); at != profile.ranks.end()) hosts.insert(at->second.host);
    json["hosts"] = hosts;
    json["moves"] = d.moves;
    json["function"] = d.function.empty() ? Json(nullptr) : Json(d.function);
    json["source"] = d.source.empty() ? Json(nullptr) : Json(d.source);
    json["call_path"] = d.call_path;
    json["waits_in"] = d.waits_in.empty() ? Json(nullptr) : Json(d.waits_in);
    json["evidence"] = d.evidence;
    json["next"] = command_of(d, folder);
    return json;
}

std::string scope_text(const DiagnosedRun& run) {
    std::string text;
    for (const std::string& sentence : run.scope) text += (text.empty() ? "looked at " : "; ") + sentence;
    return text;
}

} // namespace

std::string gain_text(const Diagnosis& d) {
    const std::string range = time(d.gain.low) == time(d.gain.high) ? "" : fmt::format(" ({} .. {})", time(d.gain.low), time(d.gain.high));
    return fmt::format("saves {}{}{}", time(d.gain.value), range,
                       d.confidence == Confidence::High ? "" : fmt::format(", confidence {}", confidence_name(d.confidence)));
}

std::string command_of(const Diagnosis& d, const std::string& folder) { return fmt::format("libprofile report {} {}", shell_word(folder), d.next); }

std::string diagnosis_text(const ReportDocument& head, const DiagnosedRun& run, const std::string& folder, const TextStyle& style) {
    TextWriter to(style);
    append_head(head, to);
    to.heading(saving_sentence(run), scope_text(run));
    std::size_t number = 1;
    for (const Diagnosis& d : run.list) {
        const std::string first = fmt::format("{:>2}  {:>6}  ", number++, percent(share(d.gain.value, run)));
        const std::string next(columns(first), ' ');
        to.paragraph(spelled(style, d.sentence), first, next);
        std::string evidence;
        for (const std::string& sentence : d.evidence) evidence += sentence + "; ";
        to.paragraph(spelled(style, evidence + gain_text(d)), next, next);
        to.dim(next + command_of(d, folder));
    }
    for (const std::string& sentence : run.untold) to.note(sentence);
    return to.text();
}

std::string diagnosis_markdown(const ReportDocument& head, const DiagnosedRun& run, const std::string& folder) {
    std::string text = document_markdown(head);
    text += fmt::format("\n## {}\n\n", saving_sentence(run));
    if (!run.scope.empty()) text += scope_text(run) + "\n\n";
    std::size_t number = 1;
    for (const Diagnosis& d : run.list) {
        text += fmt::format("{}. **{}** {}\n", number++, percent(share(d.gain.value, run)), d.sentence);
        for (const std::string& sentence : d.evidence) text += fmt::format("   - {}\n", sentence);
        text += fmt::format("   - {}\n   - `{}`\n", gain_text(d), command_of(d, folder));
    }
    for (const std::string& sentence : run.untold) text += fmt::format("\nNote: {}\n", sentence);
    return text;
}

std::string diagnosis_json(const Profile& profile, const DiagnosedRun& run, const std::string& folder, const TraceReport* trace) {
    Json json;
    json["run_ns"] = run.run_ns;
    json["gain_ns"] = run.gain_ns;
    json["low_ns"] = run.low_ns;
    json["share"] = share(run.gain_ns, run);
    json["scope"] = run.scope;
    json["untold"] = run.untold;
    Json& list = json["diagnoses"] = Json::array();
    for (const Diagnosis& d : run.list) list.push_back(diagnosis_of(profile, d, run, folder));
    if (trace != nullptr) json["trace"] = trace_json(*trace);
    return json_text(json, 2) + "\n";
}

} // namespace libprofile::tools
