#include "tools/view/comparison_page.hpp"

#include "tools/comparison/comparison_words.hpp"
#include "tools/comparison/side_by_side.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/text/phrases.hpp"
#include "tools/view/page_data.hpp"
#include "tools/view/sections.hpp"
#include "tools/view/series_column.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

class ComparisonPage {
  public:
    ComparisonPage(const Comparison& comparison, const std::vector<RunGroup>& groups)
        : comparison_(comparison), groups_(groups), scale_(comparison.unit == "ns" || comparison.unit == "bytes" ? 1 : 1000) {}

    void append(const OverTimeRequest& over_time, bool served, std::string& html) {
        Json header = {{"format", 1}, {"served", served}};
        Json& page = header["comparison"];
        page["metric"] = comparison_.metric;
        page["unit"] = comparison_.unit;
        page["scale"] = scale_;
        page["groups"] = Json::array();
        for (const RunGroup& group : groups_) page["groups"].push_back({{"name", printable(group.name)}, {"runs", places(group)}});
        page["heads"] = heads();
        page["remarks"] = Json::array();
        for (const std::string& remark : comparison_.remarks) page["remarks"].push_back(spelled({}, printable(remark)));
        page["trees"] = Json::array();
        const SideLimits limits;
        for (const SideTree& tree : side_by_side(groups_, comparison_.metric, limits)) {
            Json out = tree_of(tree);
            out["left_out"] = left_out_of(tree, limits);
            page["trees"].push_back(std::move(out));
        }
        page["texts"] = texts_;
        page["over_time"] = over_time_entry(over_time, sections_);
        append_page_parts(header, sections_, html);
    }

  private:
    static Json places(const RunGroup& group) {
        Json list = Json::array();
        for (const Run& run : group.runs) list.push_back(printable(run.place));
        return list;
    }

    Json heads() const {
        Json list = Json::array();
        for (const GroupComparison& one : comparison_.groups) {
            const ComparisonWords words = words_of(comparison_, one, groups_);
            Json lines = Json::array(), remarks = Json::array();
            for (const DifferenceLine& line : words.lines)
                lines.push_back({{"amount", spelled({}, line.amount)}, {"use", line.use}, {"text", spelled({}, line.text)}});
            for (const std::string& remark : words.remarks) remarks.push_back(spelled({}, remark));
            list.push_back({{"head", spelled({}, words.head)}, {"lines", lines}, {"remarks", remarks}});
        }
        return list;
    }

    static std::string left_out_of(const SideTree& tree, const SideLimits& limits) {
        std::string text;
        if (tree.left_out != 0)
            text = fmt::format("{} with less than {:g} % of every run, and what is below, left out", plural(tree.left_out, "row"), limits.share * 100);
        if (tree.is_cut) text += fmt::format("{}what lies deeper is left out", text.empty() ? "" : "; ");
        return text;
    }

    std::size_t number_of(const std::string& text) {
        const auto [at, is_new] = number_of_.try_emplace(text, texts_.size());
        if (is_new) texts_.push_back(text);
        return at->second;
    }

    /// Values, and errors plus 1, 0 if unknown, are in units of 1 / scale.
    Json tree_of(const SideTree& tree) {
        SeriesColumn parents, names, full_names, tree_places;
        std::vector<SeriesColumn> values(groups_.size()), errors(groups_.size() - 1);
        for (const SideRow& row : tree.rows) {
            parents.add(static_cast<double>(row.parent));
            names.add(static_cast<double>(number_of(row.label.name)));
            full_names.add(static_cast<double>(number_of(row.label.full_name)));
            tree_places.add(static_cast<double>(number_of(row.label.place)));
            values[0].add(row.changes.front().before * scale_);
            for (std::size_t g = 0; g < row.changes.size(); ++g) {
                const Change& change = row.changes[g];
                values[g + 1].add(change.after * scale_);
                errors[g].add(std::isnan(change.error) ? 0 : change.error == 0 ? 1 : std::max(change.error * scale_, 1.0) + 1);
            }
        }
        const auto numbers = [&](const std::vector<SeriesColumn>& columns) {
            Json list = Json::array();
            for (const SeriesColumn& column : columns) list.push_back(sections_.add(column.column()));
            return list;
        };
        return {{"name", tree.name},
                {"parents", sections_.add(parents.column())},
                {"names", sections_.add(names.column())},
                {"full_names", sections_.add(full_names.column())},
                {"places", sections_.add(tree_places.column())},
                {"values", numbers(values)},
                {"errors", numbers(errors)}};
    }

    const Comparison& comparison_;
    const std::vector<RunGroup>& groups_;
    const double scale_;
    std::vector<std::string> texts_;
    std::unordered_map<std::string, std::size_t> number_of_;
    Sections sections_;
};

} // namespace

std::string comparison_page_data(const Comparison& comparison, const std::vector<RunGroup>& groups, const OverTimeRequest& over_time, bool served) {
    std::string html;
    ComparisonPage(comparison, groups).append(over_time, served, html);
    return html;
}

} // namespace libprofile::tools
