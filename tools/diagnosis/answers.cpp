#include "tools/diagnosis/answers.hpp"

#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

constexpr std::size_t shown = 3; // causes

/// A screen has no room for where the others wait; `libprofile diagnose` says it.
std::string without_waiting(const std::string& sentence) { return sentence.substr(0, sentence.find(';')); }

Finding what_could_be_saved(const DiagnosedRun& run) {
    Finding finding{"saving", "What could be saved", {saving_sentence(run)}};
    for (std::size_t i = 0; i < std::min(shown, run.list.size()); ++i)
        finding.sentences.push_back(fmt::format("{}: {}", percent(run.list[i].gain.value / run.run_ns), without_waiting(run.list[i].sentence)));
    return finding;
}

} // namespace

std::string saving_sentence(const DiagnosedRun& run) {
    if (run.list.empty()) return run.run_ns <= 0 ? "nothing to diagnose" : fmt::format("no cause found that costs {:g} % of the run or more", 100 * run.least);
    const std::string high = percent(run.gain_ns / run.run_ns);
    const std::string share = run.low_ns < 0.005 * run.run_ns            ? "up to " + high
                              : percent(run.low_ns / run.run_ns) == high ? high
                                                                         : fmt::format("{} to {}", percent(run.low_ns / run.run_ns), high);
    return fmt::format("{} of the run could be saved ({} of {})", share, duration(run.gain_ns, {}), duration(run.run_ns, {}));
}

std::vector<Finding> answers(const Profile& profile, const std::vector<const Location*>& locations, const std::vector<Trend>& found, const DiagnosedRun* run) {
    std::vector<Finding> list = findings(profile, locations, found);
    const auto cost = std::find_if(list.begin(), list.end(), [](const Finding& finding) { return finding.key == "cost"; });
    if (std::any_of(locations.begin(), locations.end(), [](const Location* location) { return location != nullptr; }))
        list.insert(cost, what_could_be_saved(run != nullptr ? *run : diagnose(profile)));
    return list;
}

} // namespace libprofile::tools
