// pprof's profile.proto (https://github.com/google/pprof/blob/main/proto/profile.proto), gzipped or not. The labels "rank", "thread" and "host" are places, as
// in our exports.
#include "tools/import/file_bytes.hpp"
#include "tools/import/frame_builder.hpp"
#include "tools/import/importers.hpp"

#include <array>
#include <fmt/format.h>
#include <unordered_map>

namespace libprofile::tools {

namespace {

// Bytes of a part of the profile (a location is the largest), and of a line of a location.
constexpr std::size_t pprof_part_bytes = 112, pprof_line_bytes = 48, most_frames = 1u << 20;

/// A message of protocol buffers, field by field.
class ProtocolMessage {
  public:
    explicit ProtocolMessage(std::string_view bytes) : bytes_(bytes) {}

    bool next() {
        if (bytes_.empty()) return false;
        const std::uint64_t key = varint();
        field = static_cast<std::uint32_t>(key >> 3);
        number = 0;
        text = {};
        switch (key & 7) {
        case 0: number = varint(); break;
        case 1: text = take(8); break;
        case 2: text = take(varint()); break;
        case 5: text = take(4); break;
        default: throw FrameError("a field is of no known type");
        }
        return true;
    }
    /// The numbers of a field that may be packed.
    template <class Visit> void numbers(Visit visit) const {
        if (text.data() == nullptr) return visit(number);
        ProtocolMessage packed(text);
        while (!packed.bytes_.empty()) visit(packed.varint());
    }

    std::uint32_t field = 0;
    std::uint64_t number = 0;
    std::string_view text;

  private:
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (bytes_.empty()) break;
            const auto byte = static_cast<unsigned char>(bytes_[0]);
            bytes_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80) return value;
        }
        throw FrameError("a number has no end");
    }
    std::string_view take(std::uint64_t size) {
        if (size > bytes_.size()) throw FrameError("it ends early");
        const std::string_view part = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return part;
    }
    std::string_view bytes_;
};

/// The numbers of a message, by field; 0 where there is none.
std::array<std::uint64_t, 6> numbers_of(std::string_view bytes) {
    std::array<std::uint64_t, 6> numbers{};
    ProtocolMessage message(bytes);
    while (message.next())
        if (message.field < numbers.size()) numbers[message.field] = message.number;
    return numbers;
}

struct PprofFunction {
    std::uint64_t name = 0, file = 0;
};
struct PprofLocation {
    std::uint64_t mapping = 0, address = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> lines; // function and line, innermost first
};

class PprofReader {
  public:
    PprofReader(std::string_view bytes, const MemoryLimit& memory) : builder_("(program)", memory) {
        ProtocolMessage profile(bytes);
        std::vector<std::string_view> samples, types;
        while (profile.next()) {
            builder_.memory().take(pprof_part_bytes);
            if (profile.field == 1) types.push_back(profile.text);
            if (profile.field == 2) samples.push_back(profile.text);
            if (profile.field == 3) add_mapping(profile.text);
            if (profile.field == 4) add_location(profile.text);
            if (profile.field == 5) add_function(profile.text);
            if (profile.field == 6) texts_.push_back(profile.text);
        }
        if (types.empty()) throw FrameError("it has no types of samples");
        for (const std::string_view type : types) add_type(type);
        for (const std::string_view sample : samples) add_sample(sample);
    }
    Frame frame() { return std::move(builder_).finish(); }

  private:
    std::string_view text(std::uint64_t number) const {
        if (number >= texts_.size()) throw FrameError("a name is not there");
        return texts_[number];
    }

    void add_mapping(std::string_view bytes) {
        const auto numbers = numbers_of(bytes);
        mappings_[numbers[1]] = numbers[5];
    }
    void add_function(std::string_view bytes) {
        const auto numbers = numbers_of(bytes);
        functions_[numbers[1]] = {numbers[2], numbers[4]};
    }
    void add_location(std::string_view bytes) {
        ProtocolMessage location(bytes);
        std::uint64_t id = 0;
        PprofLocation own;
        while (location.next()) {
            if (location.field == 1) id = location.number;
            if (location.field == 2) own.mapping = location.number;
            if (location.field == 3) own.address = location.number;
            if (location.field == 4) {
                const auto line = numbers_of(location.text);
                builder_.memory().take(pprof_line_bytes);
                own.lines.emplace_back(line[1], line[2]);
            }
        }
        locations_[id] = std::move(own);
    }
    void add_type(std::string_view bytes) {
        const auto numbers = numbers_of(bytes);
        const std::uint64_t name = numbers[1], unit = numbers[2];
        const std::string_view in = text(unit);
        double factor = 1;
        for (const auto& [word, ns] :
             {std::pair("nanoseconds", 1.0), std::pair("microseconds", 1e3), std::pair("milliseconds", 1e6), std::pair("seconds", 1e9)})
            if (in == word) factor = ns;
        const bool is_time = in.find("seconds") != std::string_view::npos;
        const std::string_view called = text(name);
        metrics_.emplace_back(builder_.metric(is_time && called == "cpu" ? "time" : called, is_time ? "ns" : in), factor);
    }

    void add_sample(std::string_view bytes) {
        ProtocolMessage sample(bytes);
        std::vector<std::uint64_t> path;
        std::vector<std::int64_t> values;
        std::uint64_t rank = 0, thread = 0;
        std::string_view host;
        while (sample.next()) {
            if (sample.field == 1) sample.numbers([&](std::uint64_t id) { path.push_back(id); });
            if (path.size() > most_frames) throw FrameError("a call path has more than a million functions");
            if (sample.field == 2) sample.numbers([&](std::uint64_t value) { values.push_back(static_cast<std::int64_t>(value)); });
            if (sample.field != 3) continue;
            ProtocolMessage label(sample.text);
            std::uint64_t key = 0, string = 0, number = 0;
            while (label.next()) {
                if (label.field == 1) key = label.number;
                if (label.field == 2) string = label.number;
                if (label.field == 3) number = label.number;
            }
            if (text(key) == "rank") rank = number;
            if (text(key) == "thread") thread = number;
            if (text(key) == "host") host = text(string);
        }
        if (values.size() != metrics_.size()) throw FrameError("a sample has not as many values as there are types");
        if (rank > 0xffffffffu || thread > 0xffffffffu) rank = thread = 0; // somebody else's labels
        std::uint32_t node = 0;
        for (auto id = path.rbegin(); id != path.rend(); ++id) node = below(node, *id);
        const std::uint32_t place = builder_.place(static_cast<std::uint32_t>(rank), static_cast<std::uint32_t>(thread), host);
        for (std::size_t m = 0; m < values.size(); ++m)
            if (values[m] != 0) builder_.value(metrics_[m].first, place, node, static_cast<double>(values[m]) * metrics_[m].second);
    }

    std::uint32_t below(std::uint32_t node, std::uint64_t id) {
        const auto at = locations_.find(id);
        if (at == locations_.end()) throw FrameError("a call path has a location that is not there");
        const PprofLocation& location = at->second;
        const auto mapping = mappings_.find(location.mapping);
        const std::string_view module = mapping == mappings_.end() ? std::string_view() : text(mapping->second);
        if (location.lines.empty()) return builder_.child(node, {fmt::format("{:#x}", location.address), "function", "", module});
        for (auto line = location.lines.rbegin(); line != location.lines.rend(); ++line) {
            const auto function = functions_.find(line->first);
            if (function == functions_.end()) throw FrameError("a location has a function that is not there");
            const std::string_view name = text(function->second.name);
            if (node == 0 && name == "(no call path)") continue;
            node = builder_.child(node, {name, line == location.lines.rbegin() ? "function" : "inlined", text(function->second.file), module,
                                         static_cast<std::uint32_t>(std::min<std::uint64_t>(line->second, 0xffffffffu))});
        }
        return node;
    }

    FrameBuilder builder_;
    std::vector<std::string_view> texts_;
    std::unordered_map<std::uint64_t, std::uint64_t> mappings_; // file
    std::unordered_map<std::uint64_t, PprofFunction> functions_;
    std::unordered_map<std::uint64_t, PprofLocation> locations_;
    std::vector<std::pair<std::uint32_t, double>> metrics_; // and factor
};

} // namespace

Frame read_pprof(const std::filesystem::path& place) {
    MemoryLimit memory(place);
    const std::string bytes = file_bytes(place, memory);
    return PprofReader(bytes, memory).frame();
}

} // namespace libprofile::tools
