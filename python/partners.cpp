#include "python/bindings.hpp"

#include "tools/reader/model.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::python {

namespace {

using namespace tools;

constexpr std::int64_t further = -1, unknown = -2; // instead of a rank

/// Rank, thread, call path, 1 if sent, partner, messages, bytes: an array for each; then the messages without a row.
py::tuple partners(const Profile& p) {
    std::vector<std::vector<std::int64_t>> columns(7);
    const auto add = [&](const Location& location, const PartnerRow& row, std::int64_t partner, std::uint64_t messages, std::uint64_t bytes) {
        if (messages == 0) return;
        const std::int64_t values[] = {location.rank,
                                       location.thread,
                                       row.path,
                                       row.direction == MessageDirection::Sent,
                                       partner,
                                       static_cast<std::int64_t>(messages),
                                       static_cast<std::int64_t>(bytes)};
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(values[i]);
    };
    std::uint64_t lost = 0;
    for (const Location& location : p.locations) {
        lost += location.partners.lost;
        for (const PartnerRow& row : location.partners.rows) {
            for (const PartnerRecord& one : row.partners) add(location, row, static_cast<std::int64_t>(one.rank), one.messages, one.bytes);
            add(location, row, further, row.others.messages, row.others.bytes);
            add(location, row, unknown, row.unknown.messages, row.unknown.bytes);
        }
    }
    py::list arrays;
    for (const std::vector<std::int64_t>& column : columns) arrays.append(py::array_t<std::int64_t>(static_cast<py::ssize_t>(column.size()), column.data()));
    return py::make_tuple(arrays, lost);
}

} // namespace

void add_partners(py::module_& module) { module.def("partners", &partners); }

} // namespace libprofile::python
