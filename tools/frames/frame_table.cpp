#include "tools/frames/frame_table.hpp"

#include "tools/frames/frame_words.hpp"
#include "tools/frames/shape.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace libprofile::tools {

namespace {

TableNode table_kind(std::string_view kind) {
    for (auto k = static_cast<std::uint8_t>(TableNode::Program); k < static_cast<std::uint8_t>(TableNode::Other); ++k)
        if (kind == name_of(static_cast<TableNode>(k))) return static_cast<TableNode>(k);
    return kind == "region" || kind == "path" ? TableNode::Function : TableNode::Other; // names that other tools give to functions
}

/// The chosen metrics; without a choice all, the main one first.
std::vector<const FrameColumn*> columns_of(const Frame& frame, const TableChoice& choice) {
    std::vector<const FrameColumn*> columns;
    if (!choice.metrics.empty() && choice.metrics != std::vector<std::string>{"all"}) {
        for (const std::string& name : choice.metrics)
            if (const FrameColumn* column = &frame.column(name); std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
        return columns;
    }
    columns.push_back(&main_column(frame));
    for (const FrameColumn& column : frame.columns)
        if (&column != columns[0]) columns.push_back(&column);
    return columns;
}

/// Values on their way to whole numbers.
class WholeNumbers {
  public:
    /// 0 where there is none to keep.
    std::uint64_t of(double value) {
        constexpr double limit = 9.2e18;
        if (value > limit) throw FrameError("a value is larger than 64 bits hold");
        const double whole = std::round(value);
        if (whole < 0) {
            ++negative_;
            return 0;
        }
        rounded_ += whole != value;
        return static_cast<std::uint64_t>(whole);
    }
    void remark(const std::string& metric, Remarks& remarks) const {
        if (rounded_ != 0) remarks.push_back(fmt::format("{} of {} rounded to whole numbers", plural(rounded_, "value"), printable(metric)));
        if (negative_ != 0) remarks.push_back(fmt::format("{} of {} left out: they are below 0", plural(negative_, "value"), printable(metric)));
    }

  private:
    std::uint64_t rounded_ = 0, negative_ = 0;
};

} // namespace

CallTable table_of(const Frame& frame, const TableChoice& choice, Remarks& remarks) {
    if (!choice.ranks.empty()) {
        TableChoice rest = choice;
        rest.ranks.clear();
        return table_of(at_ranks(frame, choice.ranks), rest, remarks);
    }
    if (!choice.by_line) {
        TableChoice rest = choice;
        rest.by_line = true;
        return table_of(by_function(frame), rest, remarks);
    }
    CallTable table;
    const FrameNodes& nodes = frame.nodes;
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
        table.nodes.push_back({nodes.parent[n], n == 0 ? TableNode::Program : table_kind(frame.texts[nodes.kind[n]]),
                               choice.short_names ? short_name(frame, n) : frame.name_of(n), frame.texts[nodes.file[n]], nodes.line[n],
                               frame.texts[nodes.module[n]]});
    }
    for (const FramePlace& place : frame.places) table.locations.push_back({place.rank, place.thread, place.host, 0});
    const std::vector<const FrameColumn*> columns = columns_of(frame, choice);
    std::vector<WholeNumbers> numbers(columns.size());
    for (const FrameColumn* column : columns) table.metrics.push_back({column->metric, column->unit, column->metric, "", -1, 0});
    bool is_empty = true;
    for (std::size_t p = 0; p < frame.places.size(); ++p) {
        std::vector<CallTable::Value>& values = table.values.emplace_back();
        for (std::uint32_t m = 0; m < columns.size(); ++m)
            for (std::uint64_t i = columns[m]->begin[p]; i < columns[m]->begin[p + 1]; ++i)
                if (const std::uint64_t value = numbers[m].of(columns[m]->value[i]); value != 0)
                    values.push_back({columns[m]->node[i], m, value, frame.estimated});
        std::sort(values.begin(), values.end(),
                  [](const CallTable::Value& a, const CallTable::Value& b) { return std::pair(a.node, a.metric) < std::pair(b.node, b.metric); });
        is_empty = is_empty && values.empty();
    }
    if (is_empty) throw FrameError("nothing was measured in what was chosen; choose other ranks or metrics");
    for (std::size_t m = 0; m < columns.size(); ++m) numbers[m].remark(columns[m]->metric, remarks);
    table.estimated = frame.estimated;
    return table;
}

Profile job_of(const Frame& frame) {
    Profile profile;
    profile.job.command = fmt::format("{} ({})", frame.source, frame.tool);
    for (const FramePlace& place : frame.places) {
        RankInfo& rank = profile.ranks[place.rank];
        rank.host = place.host;
        ++rank.threads;
    }
    profile.job.ranks = profile.ranks.size();
    profile.complete = true; // nothing says that something is missing
    return profile;
}

} // namespace libprofile::tools
