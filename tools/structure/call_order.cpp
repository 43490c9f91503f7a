#include "tools/structure/call_order.hpp"

#include "libprofile/base/hashing.hpp"

#include <functional>
#include <string>

namespace libprofile::tools {

namespace {

/// 0: some of its events are not known.
std::uint64_t hash_of(const Profile& profile, const EventSequence& sequence, const std::vector<std::uint32_t>& key_of_path) {
    if (!sequence.has_timeline || sequence.is_too_long) return 0;
    std::uint64_t hash = 0, last = 0, in_a_row = 0;
    const auto close = [&] {
        if (in_a_row != 0) hash = mix(hash * golden + mix(last ^ in_a_row * golden));
    };
    for (const SequenceEvent& event : sequence.events) {
        if (event.is_inner && event.phase == SequenceEvent::none) return 0;
        const std::uint64_t key = event.is_inner ? ~mix(std::hash<std::string>()(profile.phases[event.phase].name)) : mix(key_of_path[event.path] + golden);
        if (key != last) {
            close();
            last = key;
            in_a_row = 0;
        }
        in_a_row += event.count;
    }
    close();
    return hash | 1;
}

} // namespace

std::vector<std::uint64_t> call_orders(const Profile& profile, const PhaseData& data, const std::vector<std::uint32_t>& key_of_path, std::size_t iterations) {
    std::vector<std::uint64_t> orders(iterations);
    if (!data.sequences) return orders;
    std::vector<std::uint64_t> hashes;
    for (const EventSequence& sequence : data.sequences->sequences) hashes.push_back(hash_of(profile, sequence, key_of_path));
    for (std::size_t i = 0; i < iterations; ++i)
        if (const auto sequence = data.sequences->of_iteration(i); sequence && *sequence < hashes.size()) orders[i] = hashes[*sequence];
    return orders;
}

} // namespace libprofile::tools
