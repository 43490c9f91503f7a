// The tables that `libprofile export --format csv` writes: call_paths.csv, values.csv, locations.csv (RFC 4180).
#include "tools/import/file_bytes.hpp"
#include "tools/import/frame_builder.hpp"
#include "tools/import/importers.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace libprofile::tools {

namespace {

/// Rows of a table, with the columns that are asked for.
class CsvTable {
  public:
    CsvTable(const std::filesystem::path& file, std::initializer_list<const char*> columns, MemoryLimit& memory)
        : bytes_(file_bytes(file, memory)), file_(file.filename().string()) {
        rest_ = bytes_;
        next();
        const std::vector<std::string> header = row_;
        for (const char* column : columns) {
            const auto at = std::find(header.begin(), header.end(), column);
            if (at == header.end()) throw FrameError(fmt::format("{} has no column \"{}\"", file_, column));
            columns_.push_back(static_cast<std::size_t>(at - header.begin()));
        }
    }
    bool next() {
        if (rest_.empty()) return false;
        row_.clear();
        for (bool more = true; more;) more = take_field();
        ++line_;
        return true;
    }
    const std::string& text(std::size_t column) const {
        if (columns_[column] >= row_.size()) throw FrameError(fmt::format("row {} of {} is too short", line_, file_));
        return row_[columns_[column]];
    }
    std::uint32_t number(std::size_t column) const {
        const std::uint64_t value = text(column).empty() ? 0 : whole_number_in(text(column));
        if (value > 0xffffffffu) throw FrameError(fmt::format("row {} of {} has a number that is too large", line_, file_));
        return static_cast<std::uint32_t>(value);
    }

  private:
    /// Whether another field follows in this row.
    bool take_field() {
        constexpr std::size_t most_fields = 4096;
        if (row_.size() == most_fields) throw FrameError(fmt::format("row {} of {} has too many fields", line_ + 1, file_));
        std::string& field = row_.emplace_back();
        std::size_t at = 0;
        if (!rest_.empty() && rest_[0] == '"') {
            for (at = 1; at < rest_.size(); ++at) {
                if (rest_[at] == '"' && (at + 1 == rest_.size() || rest_[at + 1] != '"')) break;
                if (rest_[at] == '"') ++at;
                field += rest_[at];
            }
            at = std::min(at + 1, rest_.size());
        } else {
            at = std::min(rest_.find_first_of(",\r\n"), rest_.size());
            field = rest_.substr(0, at);
        }
        if (at < rest_.size() && rest_[at] == ',') {
            rest_.remove_prefix(at + 1);
            return true;
        }
        rest_.remove_prefix(at);
        take_line(rest_);
        return false;
    }

    std::string bytes_, file_;
    std::string_view rest_;
    std::vector<std::string> row_;
    std::vector<std::size_t> columns_;
    std::size_t line_ = 0;
};

} // namespace

Frame read_csv(const std::filesystem::path& place) {
    MemoryLimit memory(place);
    CsvTable paths(place / "call_paths.csv", {"call_path", "parent", "name", "file", "line", "module", "kind"}, memory);
    std::optional<FrameBuilder> builder;
    while (paths.next()) {
        const std::size_t count = builder ? builder->nodes() : 0;
        if (paths.number(0) != count || (count != 0 && paths.number(1) >= count)) throw FrameError("call_paths.csv is not in order");
        if (count == 0)
            builder.emplace(paths.text(2), memory);
        else
            builder->add(paths.number(1), {paths.text(2), paths.text(6), paths.text(3), paths.text(5), paths.number(4)});
    }
    if (!builder) throw FrameError("call_paths.csv has no rows");
    std::error_code error;
    if (std::filesystem::exists(place / "locations.csv", error)) {
        CsvTable locations(place / "locations.csv", {"rank", "thread", "host"}, builder->memory());
        while (locations.next()) builder->place(locations.number(0), locations.number(1), locations.text(2));
    }
    CsvTable values(place / "values.csv", {"call_path", "rank", "thread", "metric", "value"}, builder->memory());
    while (values.next()) {
        if (values.number(0) >= builder->nodes()) throw FrameError("values.csv has a call path that is not in call_paths.csv");
        const std::string& name = values.text(3);
        // The file has no units; times are the metrics of this name, and the parts of it that are not counts.
        builder->value(builder->metric(name, name == "time" ? "ns" : ""), builder->place(values.number(1), values.number(2)), values.number(0),
                       number_in(values.text(4)));
    }
    return std::move(*builder).finish();
}

} // namespace libprofile::tools
