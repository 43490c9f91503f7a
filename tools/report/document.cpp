#include "tools/report/document.hpp"

#include "tools/text/json_text.hpp"
#include "tools/text/phrases.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

bool is_text(const ReportColumn& column) { return column.unit == ColumnUnit::Text || column.unit == ColumnUnit::Name; }

double number_of(const ReportValue& value) {
    if (const auto* u = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*u);
    if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
    const auto* d = std::get_if<double>(&value);
    return d == nullptr ? 0 : *d;
}

/// "+12 %", "3.1x": what a relative difference is best called.
std::string change_text(double change) {
    if (change >= 2) return fmt::format("{:.3g}x", change + 1);
    return fmt::format("{}{}", change > 0 ? "+" : change < 0 ? "-" : "", percent(std::abs(change)));
}

/// Means of counts may be small.
std::string mean_text(double value, const std::string& rounded) { return value != 0 && value < 0.995 ? fmt::format("{:.2g}", value) : rounded; }

/// As people read it.
std::string shown(const ReportTable& table, std::size_t r, std::size_t c, const TextStyle& style) {
    const ReportValue& value = table.rows[r][c];
    const ReportColumn& column = table.columns[c];
    if (std::holds_alternative<std::monostate>(value)) return "";
    if (std::holds_alternative<NotKnown>(value)) return "not known";
    if (const auto* text = std::get_if<std::string>(&value)) return without_anonymous(*text);
    const double number = number_of(value);
    std::string out;
    switch (column.unit == ColumnUnit::ByRow ? table.units[r] : column.unit) {
    case ColumnUnit::Ns: out = duration(std::abs(number), style); break;
    case ColumnUnit::ByteCount: out = std::abs(number) < 0.995 && number != 0 ? mean_text(std::abs(number), "") + " B" : byte_size(std::abs(number)); break;
    case ColumnUnit::Share: return percent(number);
    case ColumnUnit::Ratio: return number < 1000 ? fmt::format("{:.3g}", number) : count(number);
    case ColumnUnit::Change: return change_text(number);
    case ColumnUnit::Number: return fmt::format("{:.0f}", number);
    default: out = mean_text(std::abs(number), count(std::abs(number)));
    }
    return (number < 0 ? "-" : column.with_sign && number > 0 ? "+" : "") + out;
}

std::size_t indent_of(const ReportTable& table, std::size_t row) { return row < table.indent.size() ? table.indent[row] : 0; }

std::string left_out_text(const ReportTable& table) {
    std::string what = table.left_out_of;
    if (table.left_out == 1) what.pop_back(); // the plural's s
    return fmt::format("... and {} more {}; --top N shows more, --format {} all", count(static_cast<double>(table.left_out)), what,
                       table.key == "call_paths" ? "csv" : "json");
}

/// Numbers take what they need, names share what is left, and columns without room are named.
class TextTable {
  public:
    TextTable(const ReportTable& table, const TextStyle& style) : table_(table), style_(style) {
        for (std::size_t c = 0; c < table.columns.size(); ++c)
            if (!table.columns[c].label.empty()) chosen_.push_back(c);
        for (std::size_t r = 0; r < table.rows.size(); ++r) {
            std::vector<std::string>& line = cells_.emplace_back();
            for (std::size_t c = 0; c < table.columns.size(); ++c) line.push_back(shown(table, r, c, style));
        }
        widths_.resize(table.columns.size());
        for (const std::size_t c : chosen_) widths_[c] = wanted(c);
        fit();
    }

    void append(TextWriter& to) const {
        std::string head;
        for (const std::size_t c : chosen_)
            head += "  " + (is_text(table_.columns[c]) ? left(style_, label(c), widths_[c]) : right(style_, label(c), widths_[c]));
        to.dim(head.substr(0, head.find_last_not_of(' ') + 1));
        for (std::size_t r = 0; r < cells_.size(); ++r) {
            std::string line;
            for (const std::size_t c : chosen_) line += "  " + cell(r, c);
            to.row(line);
        }
        if (table_.left_out != 0) append_remark(left_out_text(table_), to);
        if (!dropped_.empty()) append_remark(fmt::format("no room for {}; --width N makes some", dropped_), to);
    }

  private:
    static void append_remark(const std::string& text, TextWriter& to) {
        for (const std::string& line : wrapped(text, to.width() - 2)) to.dim("  " + line);
    }

    std::string label(std::size_t c) const { return spelled(style_, table_.columns[c].label); }

    std::size_t wanted(std::size_t c) const {
        std::size_t width = columns(table_.columns[c].label);
        for (std::size_t r = 0; r < cells_.size(); ++r)
            width = std::max(width, columns(cells_[r][c]) + (table_.columns[c].unit == ColumnUnit::Name ? 2 * indent_of(table_, r) : 0));
        return width;
    }

    std::size_t used() const {
        std::size_t sum = 0;
        for (const std::size_t c : chosen_) sum += 2 + widths_[c];
        return sum;
    }

    /// Names give way down to what they need, then numbers are left out from the right.
    void fit() {
        const auto room = static_cast<std::size_t>(style_.width);
        for (std::size_t i = chosen_.size(); i-- > 0 && used() > room;) {
            const std::size_t c = chosen_[i];
            const std::size_t least = std::min(widths_[c], std::max<std::size_t>(table_.columns[c].least, 8));
            if (is_text(table_.columns[c])) widths_[c] -= std::min(used() - room, widths_[c] - least);
        }
        for (std::size_t i = chosen_.size(); i-- > 0 && used() > room;) {
            if (is_text(table_.columns[chosen_[i]])) continue;
            dropped_ = table_.columns[chosen_[i]].label + (dropped_.empty() ? "" : ", " + dropped_);
            chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    std::string cell(std::size_t r, std::size_t c) const {
        const std::string& text = cells_[r][c];
        if (!is_text(table_.columns[c])) return right(style_, text, widths_[c]);
        if (table_.columns[c].unit == ColumnUnit::Text) return left(style_, columns(text) > widths_[c] ? keep_end(style_, text, widths_[c]) : text, widths_[c]);
        // Deep trees: the outer levels of the indentation give way to the name.
        const std::size_t indent = std::min(2 * indent_of(table_, r), widths_[c] / 2);
        return left(style_, std::string(indent, ' ') + text, widths_[c]);
    }

    const ReportTable& table_;
    const TextStyle& style_;
    std::vector<std::size_t> chosen_;
    std::vector<std::vector<std::string>> cells_;
    std::vector<std::size_t> widths_;
    std::string dropped_;
};

/// Text that Markdown does not take for its own signs.
std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '|' || c == '\\' || c == '*' || c == '_' || c == '`' || c == '<' || c == '>' || c == '[' || c == ']' || c == '#') out += '\\';
        out += c;
    }
    return out;
}

Json json_of(const ReportValue& value) {
    return std::visit(
        [](const auto& v) -> Json {
            using Value = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<Value, std::monostate> || std::is_same_v<Value, NotKnown>)
                return nullptr;
            else
                return v;
        },
        value);
}

std::string csv_of(const ReportValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr) {
        const Json json = json_of(value);
        return json.is_null() ? std::string() : json.dump();
    }
    if (text->find_first_of("\",\r\n") == std::string::npos) return *text;
    std::string out = "\"";
    for (const char c : *text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
}

} // namespace

ColumnUnit unit_of(const std::string& metric_unit) {
    return metric_unit == "ns" ? ColumnUnit::Ns : metric_unit == "bytes" ? ColumnUnit::ByteCount : ColumnUnit::Count;
}

void append_head(const ReportDocument& document, TextWriter& to) {
    to.title(document.title);
    for (const std::string& fact : document.facts) to.paragraph(spelled(to.style(), fact));
    if (document.complete)
        to.line(*document.complete ? tinted(to.style(), Tint::Good, "complete")
                                   : tinted(to.style(), Tint::Warning, "INCOMPLETE") + ": no sum below includes what is missing");
    for (const std::string& warning : document.warnings) to.note(warning);
}

void append_tables(const ReportDocument& document, TextWriter& to) {
    for (const ReportTable& table : document.tables) {
        to.heading(table.title, table.remark);
        TextTable(table, to.style()).append(to);
    }
}

std::string document_text(const ReportDocument& document, const TextStyle& style) {
    TextWriter to(style);
    append_head(document, to);
    for (const auto& [heading, sentence] : document.findings) {
        if (!heading.empty()) to.heading(heading);
        to.paragraph(spelled(style, sentence), "  ", "  ");
    }
    append_tables(document, to);
    if (!document.hints.empty()) to.heading("More");
    for (const std::string& hint : document.hints) to.paragraph(hint, "  ", "      ");
    return to.text();
}

std::string document_markdown(const ReportDocument& document) {
    TextStyle style;
    style.width = 1000;
    std::string out = "# " + escaped(document.title) + "\n\n";
    for (const std::string& fact : document.facts) out += escaped(fact) + "  \n";
    for (const std::string& warning : document.warnings) out += "\n> **Note:** " + escaped(warning) + "\n";
    for (const auto& [heading, sentence] : document.findings) {
        if (!heading.empty()) out += "\n## " + escaped(heading) + "\n\n";
        out += "- " + escaped(sentence) + "\n";
    }
    for (const ReportTable& table : document.tables) {
        if (std::all_of(table.columns.begin(), table.columns.end(), [](const ReportColumn& column) { return column.label.empty(); })) continue;
        out += fmt::format("\n## {}\n\n", escaped(table.title));
        if (!table.remark.empty()) out += escaped(spelled(style, table.remark)) + "\n\n";
        std::string rule = "|";
        out += "|";
        for (const ReportColumn& column : table.columns) {
            if (column.label.empty()) continue;
            out += " " + escaped(spelled(style, column.label)) + " |";
            rule += is_text(column) ? " --- |" : " ---: |";
        }
        out += "\n" + rule + "\n";
        for (std::size_t r = 0; r < table.rows.size(); ++r) {
            out += "|";
            for (std::size_t c = 0; c < table.columns.size(); ++c) {
                if (table.columns[c].label.empty()) continue;
                std::string indent;
                if (table.columns[c].unit == ColumnUnit::Name)
                    for (std::size_t i = 0; i < std::min<std::size_t>(indent_of(table, r), 40); ++i) indent += "&nbsp;&nbsp;";
                out += " " + indent + escaped(shown(table, r, c, style)) + " |";
            }
            out += "\n";
        }
        if (table.left_out != 0) out += "\n" + escaped(left_out_text(table)) + "\n";
    }
    return out;
}

std::string document_json(const ReportDocument& document) {
    Json out = Json::object(), selection = Json::object();
    for (const auto& [key, value] : document.properties) selection[key] = json_of(value);
    out["command"] = document.title;
    out["selection"] = std::move(selection);
    out["notes"] = document.warnings;
    Json findings = Json::array();
    std::string heading;
    for (const auto& [title, sentence] : document.findings) {
        heading = title.empty() ? heading : title;
        findings.push_back({{"question", heading}, {"answer", sentence}});
    }
    out["answers"] = std::move(findings);
    for (const ReportTable& table : document.tables) {
        Json rows = Json::array();
        for (std::size_t r = 0; r < table.rows.size(); ++r) {
            Json row = Json::object();
            if (!table.indent.empty()) row["depth"] = table.indent[r];
            for (std::size_t c = 0; c < table.columns.size(); ++c)
                if (!table.columns[c].key.empty()) row[table.columns[c].key] = json_of(table.rows[r][c]);
            rows.push_back(std::move(row));
        }
        out[table.key] = std::move(rows);
    }
    return json_text(out) + "\n";
}

std::string document_csv(const ReportDocument& document) {
    std::string out;
    if (document.tables.empty()) return out;
    const auto at = std::find_if(document.tables.begin(), document.tables.end(), [](const ReportTable& t) { return t.key == "call_paths"; });
    const ReportTable& table = at == document.tables.end() ? document.tables.back() : *at;
    const auto line = [&](auto&& cell) {
        std::string text = table.indent.empty() ? "" : cell(table.columns.size());
        bool first = table.indent.empty();
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            if (table.columns[c].key.empty()) continue;
            text += (first ? "" : ",") + cell(c);
            first = false;
        }
        out += text + "\r\n";
    };
    line([&](std::size_t c) { return c == table.columns.size() ? std::string("depth") : csv_of(table.columns[c].key); });
    for (std::size_t r = 0; r < table.rows.size(); ++r)
        line([&](std::size_t c) { return c == table.columns.size() ? fmt::format("{}", table.indent[r]) : csv_of(table.rows[r][c]); });
    return out;
}

} // namespace libprofile::tools
