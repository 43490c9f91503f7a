#include "tools/view/cause_entry.hpp"

#include "tools/diagnosis/answers.hpp"
#include "tools/report/diagnosis.hpp"
#include "tools/text/layout.hpp"

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

/// From (included) to (excluded), as a flat list.
template <class Number> Json ranges(const std::vector<Number>& numbers) {
    Json list = Json::array();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        list.push_back(numbers[i]);
        while (i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1) ++i;
        list.push_back(std::uint64_t{numbers[i]} + 1);
    }
    return list;
}

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
                        {"iterations", ranges(d.iterations)},
                        {"ranks", ranges(d.ranks)}});
    }
    for (const std::string& sentence : run.scope) scope.push_back(words(sentence));
    for (const std::string& sentence : run.untold) untold.push_back(words(sentence));
    return {{"sentence", words(saving_sentence(run))}, {"scope", scope}, {"untold", untold}, {"list", list}};
}

} // namespace libprofile::tools
