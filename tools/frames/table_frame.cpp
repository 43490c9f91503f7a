#include "tools/frames/table_frame.hpp"

#include <algorithm>
#include <limits>

namespace libprofile::tools {

Frame frame_of(const CallTable& table) {
    Frame frame;
    for (const CallTable::Node& node : table.nodes)
        frame.add_node(node.parent, name_of(node.kind), node.name, node.file,
                       static_cast<std::uint32_t>(std::min<std::uint64_t>(node.line, std::numeric_limits<std::uint32_t>::max())), node.module);
    for (const CallTable::Location& location : table.locations) frame.places.push_back({location.rank, location.thread, location.host});
    for (const MetricRow& row : table.metrics) {
        FrameColumn& column = frame.columns.emplace_back();
        column.metric = row.name;
        column.unit = row.unit;
    }
    for (const std::vector<CallTable::Value>& values : table.values) {
        for (const CallTable::Value& value : values) {
            FrameColumn& column = frame.columns[value.metric];
            column.node.push_back(value.node);
            column.value.push_back(static_cast<double>(static_cast<std::int64_t>(value.value))); // differences may be below 0
        }
        for (FrameColumn& column : frame.columns) column.begin.push_back(column.node.size());
    }
    frame.scope = table.scope;
    frame.estimated = table.estimated;
    return frame;
}

} // namespace libprofile::tools
