#include "tools/report/json_sequences.hpp"

#include "tools/names/labels.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

Json event_json(const Profile& profile, const EventSequence& sequence, const SequenceEvent& event) {
    Json json = Json::object();
    if (event.is_inner) {
        json["phase"] = event.phase == SequenceEvent::none ? Json() : Json(profile.phases[event.phase].name);
        json["sequence"] = event.sequence == SequenceEvent::none ? Json() : Json(event.sequence);
    } else {
        const CallPath& path = profile.paths[event.path];
        json["kind"] = kind_name(path.kind);
        json["name"] = label_of(profile, path).name;
        json["path"] = event.path;
    }
    json["count"] = event.count;
    json["begin"] = std::llround(sequence.mean_begin(event));
    json["begin_most"] = event.begin_most;
    json["length"] = std::llround(sequence.mean_length(event));
    json["length_most"] = event.length_most;
    return json;
}

Json timelines_json(const Profile& profile, const SequencesData& data) {
    Json list = Json::array();
    for (const EventSequence& sequence : data.sequences) {
        Json events = Json::array();
        for (const SequenceEvent& event : sequence.events) events.push_back(event_json(profile, sequence, event));
        list.push_back({{"hash", fmt::format("{:016x}{:016x}", sequence.hash[0], sequence.hash[1])},
                        {"iterations", sequence.iterations},
                        {"is_too_long", sequence.is_too_long},
                        {"timeline", sequence.has_timeline ? std::move(events) : Json()}});
    }
    return list;
}

} // namespace

nlohmann::ordered_json sequences_json(const Profile& profile, const PhaseData& data, bool with_timelines) {
    if (!data.sequences) return nullptr;
    const SequencesData& sequences = *data.sequences;
    const auto with = std::count_if(sequences.sequences.begin(), sequences.sequences.end(), [](const EventSequence& s) { return s.has_timeline; });
    Json json = {{"sequences", sequences.sequences.size()},
                 {"with_timeline", with},
                 {"iterations_without", sequences.unknown(data.iteration_ns.size())},
                 {"unnumbered", sequences.unnumbered},
                 {"untimed", sequences.untimed}};
    if (!with_timelines) return json;
    json["timelines"] = timelines_json(profile, sequences);
    Json numbers = Json::array();
    for (std::size_t i = 0; i < data.iteration_ns.size(); ++i) {
        const auto number = sequences.of_iteration(i);
        numbers.push_back(number ? Json(*number) : Json());
    }
    json["sequence_of_iteration"] = std::move(numbers);
    return json;
}

} // namespace libprofile::tools
