// A report as headings, sentences and tables of numbers, and the four formats that print it.
// Contract: plain data; functions without state; allocate; throw std::bad_alloc only. Tables hold the numbers themselves: text and
// Markdown round them, JSON and CSV print them as they are, so that all forms agree.
#pragma once

#include "tools/text/writer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace libprofile::tools {

/// What a column holds.
enum class ColumnUnit : std::uint8_t {
    Text,
    Name, // text at the indentation of its row
    Ns,   // times, as integers or means
    Count,
    ByteCount,
    Number, // without separators: a rank
    Share,  // of 1
    Ratio,  // of two times, with digits after the point
    Change, // relative difference: 0.1 is +10 %
    ByRow,  // that of its row: a line per metric
};

/// The unit of a metric's values: "ns", "count", "bytes" or one of a counter.
ColumnUnit unit_of(const std::string& metric_unit);

struct ReportColumn {
    std::string key;   // JSON and CSV; empty for text and Markdown only
    std::string label; // text and Markdown; empty for JSON and CSV only
    ColumnUnit unit = ColumnUnit::Text;
    bool with_sign = false; // differences
    std::size_t least = 0;  // text: least width of a name, in columns
};

/// There is a value, but the profile does not tell it; null in JSON, empty in CSV.
struct NotKnown {};

/// Nothing, text, a whole number, a signed one, a mean, or an unknown value.
using ReportValue = std::variant<std::monostate, std::string, std::uint64_t, std::int64_t, double, NotKnown>;

struct ReportTable {
    std::string key; // JSON
    std::string title;
    std::string remark; // what the columns mean
    std::vector<ReportColumn> columns;
    std::vector<std::vector<ReportValue>> rows;
    std::vector<std::uint32_t> indent; // by row, for the column Name; empty without indentation
    std::vector<ColumnUnit> units;     // by row, for columns ByRow
    std::size_t left_out = 0;          // rows that --top or the screen left out
    std::string left_out_of;           // "functions"
};

struct ReportDocument {
    std::string title;
    std::vector<std::string> facts; // lines below the title
    std::optional<bool> complete;   // if set, the text says it
    std::vector<std::string> warnings;
    std::vector<std::pair<std::string, std::string>> findings;   // heading and sentence; an empty heading repeats the last one
    std::vector<std::pair<std::string, ReportValue>> properties; // JSON: of the selection
    std::vector<std::string> hints;                              // what to ask next
    std::vector<ReportTable> tables;
};

/// Title, facts, completeness and warnings, as in text.
void append_head(const ReportDocument& document, TextWriter& to);

/// The tables, as in text.
void append_tables(const ReportDocument& document, TextWriter& to);

std::string document_text(const ReportDocument& document, const TextStyle& style);
/// Without tables that have no labels.
std::string document_markdown(const ReportDocument& document);
std::string document_json(const ReportDocument& document);
/// The table "call_paths", or else the last one, with a line of column names (RFC 4180).
std::string document_csv(const ReportDocument& document);

} // namespace libprofile::tools
