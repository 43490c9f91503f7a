#include "tools/view/cause_entry.hpp"

#include "tools/diagnosis/answers.hpp"
#include "tools/report/diagnosis.hpp"
#include "tools/text/layout.hpp"
#include "tools/view/flat_ranges.hpp"

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

std::string words(const std::string& sentence) { return spelled({}, sentence); }

} // namespace

Json causes_entry(const DiagnosedRun& run, const std::string& folder) {
    Json list = Json::array(), scope = Json::array(), untold = Json::array();
    for (const Diagnosis& d : run.list) {
        Json evidence = Json::array();
        for (const std::string& sentence : d.evidence) evidence.push_back(words(sentence));
        list.push_back({{"kind", cause_name(d.cause)},
                        {"function", d.function},
                        {"share", percent(run.run_ns <= 0 ? 0 : d.gain.value / run.run_ns)},
                        {"sentence", words(d.sentence)},
                        {"evidence", evidence},
                        {"gain", words(gain_text(d))},
                        {"next", command_of(d, folder)},
                        {"phase", d.is_whole_run ? -1 : static_cast<std::int64_t>(d.phase)},
                        {"iterations", flat_ranges(d.iterations)},
                        {"ranks", flat_ranges(d.ranks)}});
    }
    for (const std::string& sentence : run.scope) scope.push_back(words(sentence));
    for (const std::string& sentence : run.untold) untold.push_back(words(sentence));
    return {{"sentence", words(saving_sentence(run))}, {"scope", scope}, {"untold", untold}, {"list", list}};
}

} // namespace libprofile::tools
