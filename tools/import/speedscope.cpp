// speedscope's own file format (https://www.speedscope.app/file-format-schema.json): sampled and evented profiles. Profiles called "rank 3" or
// "rank 3 thread 1" are places, as in our exports; "all ranks" beside them is left out. Other names are threads of rank 0.
#include "tools/export/location_name.hpp"
#include "tools/import/frame_builder.hpp"
#include "tools/import/importers.hpp"
#include "tools/import/json_file.hpp"

#include <algorithm>

namespace libprofile::tools {

namespace {

struct SpeedscopeUnit {
    double factor;
    const char* unit;
    const char* metric;
};

SpeedscopeUnit speedscope_unit(const std::string& name) {
    if (name == "nanoseconds") return {1, "ns", "time"};
    if (name == "microseconds") return {1e3, "ns", "time"};
    if (name == "milliseconds") return {1e6, "ns", "time"};
    if (name == "seconds") return {1e9, "ns", "time"};
    if (name == "bytes") return {1, "bytes", "bytes"};
    return {1, "", "value"};
}

class SpeedscopeReader {
  public:
    SpeedscopeReader(const Json& document, const std::string& program, const MemoryLimit& memory)
        : builder_(program, memory), frames_(array_member(member(document, "shared"), "frames")) {}

    void add(const Json& profile, std::uint32_t place, const std::string& label) {
        const SpeedscopeUnit unit = speedscope_unit(text_or(profile, "unit", "none"));
        const std::uint32_t metric = builder_.metric(label.empty() ? unit.metric : label, unit.unit);
        const std::string type = text_or(profile, "type", "");
        if (type == "sampled")
            add_samples(profile, place, metric, unit.factor);
        else if (type == "evented")
            add_events(profile, place, metric, unit.factor);
        else
            throw FrameError(fmt::format("a profile is of the unknown type \"{}\"", type));
    }
    FrameBuilder& builder() { return builder_; }

  private:
    std::uint32_t child(std::uint32_t node, const Json& frame) {
        const Json& names = frames_[index_in(frame, frames_.size())];
        const std::string name = text_or(names, "name", ""), file = text_or(names, "file", "");
        const auto line = names.is_object() ? names.find("line") : names.end();
        const bool has_line = names.is_object() && line != names.end() && line->is_number_unsigned() && line->get<std::uint64_t>() <= 0xffffffffu;
        return builder_.child(node, {name, "function", file, "", has_line ? line->get<std::uint32_t>() : 0});
    }
    static double number(const Json& value) {
        if (!value.is_number()) throw FrameError("a weight or time is no number");
        return value.get<double>();
    }

    void add_samples(const Json& profile, std::uint32_t place, std::uint32_t metric, double factor) {
        const Json &samples = array_member(profile, "samples"), &weights = array_member(profile, "weights");
        if (samples.size() != weights.size()) throw FrameError("a profile has samples without weights");
        for (std::size_t s = 0; s < samples.size(); ++s) {
            if (!samples[s].is_array()) throw FrameError("a sample is no list");
            std::uint32_t node = 0;
            for (const Json& frame : samples[s]) node = child(node, frame);
            builder_.value(metric, place, node, number(weights[s]) * factor);
        }
    }

    void add_events(const Json& profile, std::uint32_t place, std::uint32_t metric, double factor) {
        std::vector<std::uint32_t> open = {0};
        double last = number(member(profile, "startValue"));
        for (const Json& event : array_member(profile, "events")) {
            const double at = number(member(event, "at"));
            if (at < last) throw FrameError("events are not in the order of time");
            if (open.size() > 1) builder_.value(metric, place, open.back(), (at - last) * factor);
            last = at;
            const std::string type = text_or(event, "type", "");
            if (type == "O")
                open.push_back(child(open.back(), member(event, "frame")));
            else if (type == "C" && open.size() > 1)
                open.pop_back();
            else
                throw FrameError("an event opens nothing, or closes what is not open");
        }
    }

    FrameBuilder builder_;
    const Json& frames_;
};

/// "rank 3 thread 1, bytes sent": place and metric.
struct Title {
    std::optional<NamedLocation> place;
    std::string metric;

    explicit Title(const std::string& name) {
        const std::size_t comma = name.find(", ");
        metric = comma == std::string::npos ? "" : name.substr(comma + 2);
        place = location_named(std::string_view(name).substr(0, comma));
    }
};

} // namespace

Frame read_speedscope(const std::filesystem::path& place) {
    MemoryLimit memory(place);
    const Json document = json_file(place, memory);
    SpeedscopeReader reader(document, text_or(document, "name", "(program)"), memory);
    const Json& profiles = array_member(document, "profiles");
    const bool has_ranks =
        std::any_of(profiles.begin(), profiles.end(), [](const Json& profile) { return Title(text_or(profile, "name", "")).place.has_value(); });
    std::uint32_t thread = 0;
    for (const Json& profile : profiles) {
        const std::string name = text_or(profile, "name", "");
        const Title title(name);
        const bool is_sum = name.rfind("all ranks", 0) == 0;
        if (has_ranks && !title.place) continue;
        const bool is_ours = title.place || is_sum;
        const NamedLocation where = title.place.value_or(NamedLocation{0, is_sum ? 0 : thread});
        reader.add(profile, reader.builder().place(where.rank, where.thread), is_ours ? title.metric : "");
        thread += !is_ours;
    }
    return std::move(reader.builder()).finish();
}

} // namespace libprofile::tools
