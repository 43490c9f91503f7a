#include "tools/view/frame_page.hpp"

#include "tools/frames/frame_report.hpp"
#include "tools/frames/frame_table.hpp"
#include "tools/frames/frame_words.hpp"
#include "tools/frames/shape.hpp"
#include "tools/names/labels.hpp"
#include "tools/text/layout.hpp"
#include "tools/view/page_data.hpp"
#include "tools/view/sections.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

class FramePage {
  public:
    FramePage(const Frame& frame, const std::vector<std::string>& metrics)
        : frame_(by_function(frame)), table_(table_of(frame_, choice_of(frame_, metrics), remarks_)) {
        if (table_.metrics.size() < frame.columns.size() && metrics.empty())
            remarks_.push_back(fmt::format("the page has {} only, as the profile is large; --metric names others", table_.metrics[0].name));
        constexpr std::uint32_t most_ranks = 10'000'000;
        if (table_.locations.back().rank >= most_ranks)
            throw FrameError(fmt::format("a rank has the number {}, and the page has room for {}", table_.locations.back().rank, most_ranks));
    }

    void append(std::string& html) {
        const Json none = Json::array();
        Json header = {{"format", 1}, {"served", false}, {"tool", frame_.tool}};
        header["job"] = job();
        header["answers"] = answers();
        header["causes"] = {{"sentence", ""}, {"scope", none}, {"untold", none}, {"list", none}};
        header["locations"] = locations();
        header["metrics"] = metrics();
        header["columns"] = none;
        for (const MetricRow& row : table_.metrics) header["columns"].push_back(row.name);
        header["nodes"] = nodes();
        header["regions"] = {{"rows", none}, {"counters", none}, {"functions_left_out", 0}};
        header["lines"] = none;
        header["totals"] = totals();
        header["phases"] = Json::array({phase()});
        header["strip"] = nullptr;
        header["begins_known"] = false;
        header["laid_end"] = 0;
        append_page_parts(header, sections_, html);
    }

  private:
    static TableChoice choice_of(const Frame& frame, const std::vector<std::string>& metrics) {
        constexpr std::size_t most_values = 3'000'000; // some 20 MB
        std::size_t values = 0;
        for (const FrameColumn& column : frame.columns) values += column.value.size();
        TableChoice choice;
        choice.metrics = metrics;
        if (metrics.empty() && values > most_values) choice.metrics = {main_column(frame).metric};
        return choice;
    }

    Json job() const {
        Json sentences = Json::array();
        const auto add = [&](const char* group, const std::string& sentence) {
            sentences.push_back({{"group", group}, {"kind", "foreign"}, {"sentence", printable(sentence)}});
        };
        add("loss", lack_words(frame_));
        for (const std::string& note : frame_.notes) add("loss", note);
        for (const std::string& remark : remarks_) add("loss", remark);
        return {{"command", frame_.source},   {"executable", ""}, {"folder", frame_.source}, {"mpi", ""},        {"version", ""},
                {"line", size_words(frame_)}, {"ranks", ranks()}, {"configuration", ""},     {"complete", true}, {"losses", sentences}};
    }

    /// Ranks are numbers from 0 there.
    std::uint64_t ranks() const { return std::uint64_t{table_.locations.back().rank} + 1; }

    /// What the report says first.
    Json answers() const {
        const Json none = Json::array();
        Json list = Json::array();
        for (const auto& [question, sentence] : frame_report(frame_, {{table_.metrics[0].name}}).findings) {
            if (!question.empty()) list.push_back({{"key", "foreign"}, {"question", question}, {"sentences", none}});
            list.back()["sentences"].push_back(spelled({}, sentence));
        }
        return {{"list", list}, {"parts", none}, {"hottest", none}, {"nameless", none}};
    }

    Json locations() const {
        Json rank = Json::array(), thread = Json::array(), host = Json::array(), wall = Json::array(), unknown = Json::array(), moves = Json::array();
        std::vector<std::string> hosts;
        for (std::size_t p = 0; p < table_.locations.size(); ++p) {
            const CallTable::Location& location = table_.locations[p];
            rank.push_back(location.rank);
            thread.push_back(location.thread);
            wall.push_back(0);
            unknown.push_back(-1);
            moves.push_back(0);
            const auto at = std::find(hosts.begin(), hosts.end(), location.host);
            host.push_back(at - hosts.begin());
            if (at == hosts.end()) hosts.push_back(location.host);
        }
        return {{"rank", rank},         {"thread", thread}, {"host", host},
                {"wall", wall},         {"hosts", hosts},   {"core", unknown},
                {"numa_node", unknown}, {"moves", moves},   {"machines", std::vector<std::string>(hosts.size())}};
    }

    Json metrics() const {
        Json list = Json::array();
        for (std::size_t m = 0; m < table_.metrics.size(); ++m)
            list.push_back({{"name", table_.metrics[m].name},
                            {"unit", table_.metrics[m].unit},
                            {"label", table_.metrics[m].label},
                            {"description", "as the profile calls it"},
                            {"parent", -1},
                            {"time", false},
                            {"column", m}});
        return list;
    }

    Json nodes() const {
        Json parent = Json::array(), kind = Json::array(), name = Json::array(), place = Json::array(), file = Json::array(), row = Json::array();
        for (std::size_t n = 0; n < table_.nodes.size(); ++n) {
            const CallTable::Node& node = table_.nodes[n];
            parent.push_back(n == 0 ? -1 : static_cast<std::int64_t>(node.parent));
            kind.push_back(name_of(node.kind));
            name.push_back(n == 0 ? "all" : node.name);
            const std::string base = base_name(node.file);
            place.push_back(node.line == 0 ? base : fmt::format("{}:{}", base, node.line));
            file.push_back(node.file);
            row.push_back(0);
        }
        return {{"parent", parent}, {"kind", kind}, {"name", name}, {"place", place}, {"file", file}, {"row", row}};
    }

    Json totals() {
        NumberColumn counts, keys, mantissas, exponents;
        for (const std::vector<CallTable::Value>& values : table_.values) {
            counts.add(values.size());
            std::uint64_t before = 0;
            for (const CallTable::Value& value : values) {
                const std::uint64_t key = std::uint64_t{value.node} * table_.metrics.size() + value.metric;
                keys.add(key - before);
                before = key;
                mantissas.add(value.value);
                exponents.add(0);
            }
        }
        return {
            {"counts", sections_.add(counts)}, {"keys", sections_.add(keys)}, {"mantissas", sections_.add(mantissas)}, {"exponents", sections_.add(exponents)}};
    }

    /// All of it lies outside of phases.
    Json phase() {
        const std::vector<std::uint64_t> zeroes(table_.locations.size());
        const std::vector<bool> no(table_.locations.size());
        const NumberColumn empty;
        Json samples = {{"counts", zeroes}};
        for (const char* column : {"numbers", "mixed", "of_cluster", "times"}) samples[column] = sections_.add(empty);
        samples["units"] = zeroes;
        samples["wall"] = no;
        return {{"name", ""}, {"samples", samples}, {"kind", "outside"}, {"wall", zeroes}, {"inclusive", zeroes}, {"instances", zeroes}};
    }

    const Frame frame_; // functions
    Remarks remarks_;
    const CallTable table_;
    Sections sections_;
};

} // namespace

std::string frame_page_data(const Frame& frame, const std::vector<std::string>& metrics) {
    std::string html;
    FramePage(frame, metrics).append(html);
    return html;
}

} // namespace libprofile::tools
