#include "tools/processes/typical_iteration.hpp"

#include "libprofile/base/hashing.hpp"
#include "tools/analysis/in_parallel.hpp"
#include "tools/analysis/totals.hpp"
#include "tools/names/labels.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

std::uint64_t hash_of_text(const std::string& text) { return std::hash<std::string>()(text); }

/// With a timeline; null if there is none.
const EventSequence* most_frequent(const PhaseData& data) {
    const EventSequence* found = nullptr;
    if (data.sequences)
        for (const EventSequence& sequence : data.sequences->sequences)
            if (sequence.has_timeline && !sequence.is_too_long && (found == nullptr || sequence.iterations > found->iterations)) found = &sequence;
    return found;
}

} // namespace

std::vector<TypicalCall> typical_calls(const Profile& profile, const EventSequence& sequence) {
    std::vector<SequenceEvent> events = sequence.events;
    std::stable_sort(events.begin(), events.end(), [](const SequenceEvent& a, const SequenceEvent& b) { return a.begin_sum < b.begin_sum; });
    std::vector<TypicalCall> calls;
    for (const SequenceEvent& event : events) {
        if (event.is_inner && event.phase == SequenceEvent::none) continue;
        const auto path = static_cast<std::uint32_t>(event.is_inner ? profile.paths.size() + event.phase : event.path);
        calls.push_back({path, event.count, sequence.mean_begin(event), sequence.mean_length(event)});
    }
    return calls;
}

std::vector<CallEvent> events_of(std::span<const TypicalCall> calls) {
    std::vector<CallEvent> events;
    for (const TypicalCall& call : calls) events.push_back({call.path, call.count, call.length});
    return events;
}

std::uint32_t named_node(const OrderedTree& tree, std::uint32_t at) {
    if (tree.nodes[at].events > 1) return at;
    std::uint32_t event = at;
    while (event + 1 < tree.nodes[at].end && tree.nodes[event].own == 0) ++event;
    return event;
}

TypicalIterations::TypicalIterations(const Profile& profile, const std::vector<const Location*>& locations, std::uint32_t phase)
    : profile_(profile), rows_(locations.size()) {
    const auto has_order = [&](const Location* location) {
        const PhaseData* data = find_phase(location, phase);
        return data != nullptr && data->sequences;
    };
    if (std::none_of(locations.begin(), locations.end(), has_order)) return;
    for (const CallPath& path : profile.paths) {
        const Label label = label_of(profile, path);
        parent_of_path_.push_back(path.parent);
        key_of_path_.push_back(mix(hash_of_text(label.name) ^ mix(hash_of_text(label.file) + golden)));
    }
    for (const Phase& one : profile.phases) {
        parent_of_path_.push_back(0);
        key_of_path_.push_back(mix(hash_of_text(one.name) + golden));
    }
    in_parallel(locations.size(), [&](std::size_t row) {
        const PhaseData* data = find_phase(locations[row], phase);
        const EventSequence* sequence = data == nullptr ? nullptr : most_frequent(*data);
        if (sequence == nullptr) return;
        const std::vector<CallEvent> calls = events_of(typical_calls(profile, *sequence));
        TypicalIteration& to = rows_[row];
        to.iterations = sequence->iterations;
        to.all = data->cluster_of_iteration.size();
        if (auto tree = ordered_tree(calls, parent_of_path_, key_of_path_)) to.tree = std::move(*tree);
    });
}

bool TypicalIterations::is_known() const {
    return std::any_of(rows_.begin(), rows_.end(), [](const TypicalIteration& row) { return !row.tree.nodes.empty(); });
}

MergedTree TypicalIterations::merged() const {
    TreeMerger merger;
    for (std::uint32_t row = 0; row < rows_.size(); ++row)
        if (!rows_[row].tree.nodes.empty()) merger.add(row, rows_[row].tree);
    return merger.merge();
}

std::string TypicalIterations::name(std::uint32_t path) const {
    if (path >= profile_.paths.size()) return "phase " + profile_.phases[path - profile_.paths.size()].name;
    return short_function_name(label_of(profile_, profile_.paths[path]).name);
}

} // namespace libprofile::tools
