#include "tools/view/begin_entry.hpp"

#include "tools/export/iteration_begins.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {
constexpr std::uint64_t steps = 1 << 18; // of a run: a picture of it has fewer pixels
}

BeginEntries::BeginEntries(const std::vector<const Location*>& mains, const ClockAxis& axis) : mains_(mains) {
    for (const Location* location : mains) {
        begins_.push_back(location == nullptr ? std::vector<std::vector<std::uint64_t>>() : iteration_begins(*location));
        if (location == nullptr) continue;
        known_ = known_ && are_begins_known(*location);
        for (std::size_t i = 0; i < location->phases.size(); ++i) {
            std::vector<std::uint64_t>& begins = begins_.back()[i];
            if (begins.empty()) continue;
            begins.push_back(begins.back() + location->phases[i].iteration_ns.back());
            for (std::uint64_t& ns : begins) ns = axis.at(location->rank, ns);
            end_ = std::max(end_, begins.back());
        }
    }
    unit_ = std::max<std::uint64_t>(1, end_ / steps);
}

nlohmann::ordered_json BeginEntries::entry(std::uint32_t phase, Sections& sections) {
    std::vector<std::size_t> position(mains_.size(), ~std::size_t{0});
    std::size_t iterations = 0;
    for (std::size_t r = 0; r < mains_.size(); ++r)
        for (std::size_t i = 0; i < begins_[r].size(); ++i)
            if (mains_[r]->phases[i].phase == phase) {
                position[r] = i;
                iterations += begins_[r][i].empty() ? 0 : begins_[r][i].size() - 1;
            }
    const std::size_t room = std::max<std::size_t>(room_ / 2, 1), stride = (iterations + room - 1) / room;
    NumberColumn column;
    nlohmann::ordered_json counts = nlohmann::ordered_json::array();
    for (std::size_t r = 0; r < mains_.size(); ++r) {
        if (position[r] == ~std::size_t{0} || begins_[r][position[r]].empty()) {
            counts.push_back(0);
            continue;
        }
        const std::vector<std::uint64_t>& begins = begins_[r][position[r]];
        std::uint64_t before = 0;
        const auto add = [&](std::uint64_t ns) {
            column.add(ns / unit_ - before); // begins go up
            before = ns / unit_;
        };
        for (std::size_t i = 0; i + 1 < begins.size(); i += std::max<std::size_t>(stride, 1)) add(begins[i]);
        add(begins.back());
        counts.push_back(begins.size() - 1);
    }
    room_ -= std::min(room_, iterations / std::max<std::size_t>(stride, 1));
    return {{"unit", unit_}, {"stride", std::max<std::size_t>(stride, 1)}, {"counts", counts}, {"begins", sections.add(column)}};
}

} // namespace libprofile::tools
