// Caliper's .cali text. Source: Caliper's documentation and source, "CaliReader": records "__rec=node" make a tree of values and, for attributes
// 8 to 10 (name, type, properties), the attributes themselves; "__rec=ctx" is a row: references to nodes, and values of attributes.
#include "tools/import/caliper_names.hpp"
#include "tools/import/file_bytes.hpp"
#include "tools/import/frame_builder.hpp"
#include "tools/import/importers.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace libprofile::tools {

namespace {

constexpr std::uint64_t name_attribute = 8, property_attribute = 10, nested_property = 256;
constexpr std::size_t longest_record = 1u << 20, caliper_node_bytes = 144, caliper_attribute_bytes = 176;
constexpr std::uint64_t no_parent = ~std::uint64_t{0};

struct CaliperNode {
    std::uint64_t attribute = 0, parent = no_parent;
    std::string data;
};

/// Fields of a record, "key=value=value,key=...", with '\\' before what is meant literally.
std::map<std::string, std::vector<std::string>> fields_of(std::string_view line) {
    std::map<std::string, std::vector<std::string>> fields;
    std::vector<std::string> words(1);
    const auto finish = [&] {
        const std::string key = words[0];
        words.erase(words.begin());
        std::vector<std::string>& values = fields[key];
        values.insert(values.end(), words.begin(), words.end());
        words.assign(1, "");
    };
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\' && i + 1 < line.size())
            words.back() += line[++i] == 'n' ? '\n' : line[i];
        else if (line[i] == '=')
            words.emplace_back();
        else if (line[i] == ',')
            finish();
        else
            words.back() += line[i];
    }
    finish();
    return fields;
}

class CaliperReader {
  public:
    explicit CaliperReader(const MemoryLimit& memory) : builder_("(program)", memory) {}

    Frame read(std::string_view text) {
        while (!text.empty()) {
            const std::string_view line = take_line(text);
            if (line.empty()) continue;
            if (line.size() > longest_record) throw FrameError("a record is longer than 1 MiB");
            const auto fields = fields_of(line);
            const std::string kind = first(fields, "__rec");
            if (kind == "node")
                add_node(fields);
            else if (kind == "ctx")
                add_row(fields);
        }
        if (!has_values_) throw FrameError("it has no values of metrics that add up; aggregate with sum()");
        builder_.note("statistics of metrics (min#, max#, avg#) are left out: they do not add up");
        return std::move(builder_).finish();
    }

  private:
    using Fields = std::map<std::string, std::vector<std::string>>;
    static std::string first(const Fields& fields, const char* key) {
        const auto at = fields.find(key);
        return at == fields.end() || at->second.empty() ? "" : at->second[0];
    }
    static const std::vector<std::string>& all(const Fields& fields, const char* key) {
        static const std::vector<std::string> none;
        const auto at = fields.find(key);
        return at == fields.end() ? none : at->second;
    }

    void add_node(const Fields& fields) {
        CaliperNode node;
        const std::uint64_t id = whole_number_in(first(fields, "id"));
        if (id == no_parent) throw FrameError("a node has the number that means none");
        node.attribute = whole_number_in(first(fields, "attr"));
        node.data = first(fields, "data");
        if (fields.count("parent") != 0) {
            node.parent = whole_number_in(first(fields, "parent"));
            // A parent is read before its children, so there are no circles. The first eleven, types and the attributes of attributes, are not written.
            if (nodes_.count(node.parent) == 0) {
                if (node.parent > 10) throw FrameError("a node comes before its parent");
                node.parent = no_parent;
            }
        }
        builder_.memory().take(caliper_node_bytes + node.data.size());
        if (!nodes_.try_emplace(id, std::move(node)).second) throw FrameError(fmt::format("node {} is there twice", id));
    }

    /// What an attribute's chain of nodes says: its name, unit and properties.
    struct CaliperAttribute {
        std::string name, unit;
        std::uint64_t properties = 0;
    };
    const CaliperAttribute& attribute(std::uint64_t id) {
        const auto [at, is_new] = attributes_.try_emplace(id);
        CaliperAttribute& found = at->second;
        if (!is_new) return found;
        builder_.memory().take(caliper_attribute_bytes);
        for (auto node = nodes_.find(id); node != nodes_.end(); node = nodes_.find(node->second.parent)) {
            const CaliperNode& part = node->second;
            if (part.attribute == name_attribute && found.name.empty()) found.name = part.data;
            if (part.attribute == property_attribute) found.properties = whole_number_in(part.data);
            if (const auto own = nodes_.find(part.attribute); own != nodes_.end() && own->second.data == "attribute.unit") found.unit = part.data;
        }
        return found;
    }

    void add_row(const Fields& fields) {
        std::uint32_t node = 0;
        std::map<std::string, std::string> values;
        for (const std::string& text : all(fields, "ref")) {
            std::vector<const CaliperNode*> path;
            for (auto at = nodes_.find(whole_number_in(text)); at != nodes_.end(); at = nodes_.find(at->second.parent)) path.push_back(&at->second);
            std::reverse(path.begin(), path.end());
            for (const CaliperNode* part : path) {
                const CaliperAttribute& own = attribute(part->attribute);
                if ((own.properties & nested_property) != 0)
                    node = builder_.child(node, {part->data, own.name == "mpi.function" ? "mpi" : "function"});
                else
                    values[own.name] = part->data;
            }
        }
        const std::vector<std::string>&ids = all(fields, "attr"), &data = all(fields, "data");
        if (ids.size() != data.size()) throw FrameError("a row has not as many values as attributes");
        for (std::size_t i = 0; i < ids.size(); ++i) values[attribute(whole_number_in(ids[i])).name] = data[i];
        const auto number = [&](const char* name) {
            const auto at = values.find(name);
            return at == values.end() ? 0 : static_cast<std::uint32_t>(std::min<std::uint64_t>(whole_number_in(at->second), 0xffffffffu));
        };
        const std::uint32_t here = builder_.place(number("mpi.rank"), 0);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const CaliperAttribute& own = attribute(whole_number_in(ids[i]));
            const auto metric = caliper_metric(own.name, own.unit);
            if (!metric || data[i].empty() || data[i].find_first_not_of("0123456789.eE+-") != std::string::npos) continue;
            // Of a metric that is there in both ways the exclusive one comes first in Caliper's own reports.
            const auto [known, is_new] = inclusive_.try_emplace(metric->name, metric->is_inclusive);
            if (known->second != metric->is_inclusive) continue;
            const bool is_time = metric->unit == "ns";
            const std::uint32_t number_of_metric = builder_.metric(metric->name, is_time ? "ns" : own.unit);
            if (is_new && metric->is_inclusive) builder_.make_exclusive(number_of_metric);
            const bool is_micro = !metric->is_unit_known && data[i].find('.') == std::string::npos;
            builder_.value(number_of_metric, here, node, number_in(data[i]) * (is_micro ? 1e3 : metric->factor));
            has_values_ = true;
        }
    }

    FrameBuilder builder_;
    std::unordered_map<std::uint64_t, CaliperNode> nodes_;
    std::unordered_map<std::uint64_t, CaliperAttribute> attributes_;
    std::map<std::string, bool> inclusive_; // by metric
    bool has_values_ = false;
};

} // namespace

Frame read_caliper_text(const std::filesystem::path& place) {
    MemoryLimit memory(place);
    const std::string bytes = file_bytes(place, memory);
    return CaliperReader(memory).read(bytes);
}

} // namespace libprofile::tools
