#include "tools/import/importers.hpp"

#include <cstring>
#include <fmt/format.h>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <zlib.h>

namespace libprofile::tools {

namespace {

namespace fs = std::filesystem;

bool has_file(const fs::path& place, const char* name) {
    std::error_code error;
    return fs::is_regular_file(place / name, error);
}

bool is_json_with(std::string_view head, std::initializer_list<const char*> keys) {
    const std::size_t first = head.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return false;
    for (const char* key : keys)
        if (head.find(key) == std::string_view::npos) return false;
    return true;
}

bool is_hpctoolkit(const fs::path& place, std::string_view) { return has_file(place, "experiment.xml"); }
bool is_hpctoolkit_4(const fs::path& place, std::string_view) { return has_file(place, "meta.db") && has_file(place, "profile.db"); }
bool is_csv(const fs::path& place, std::string_view) { return has_file(place, "call_paths.csv") && has_file(place, "values.csv"); }
bool is_tau(const fs::path& place, std::string_view head) {
    return has_file(place, "profile.0.0.0") || head.substr(0, 100).find("templated_functions") != std::string_view::npos;
}
bool is_cubex(const fs::path&, std::string_view head) { return head.size() > 262 && head.substr(257, 5) == "ustar"; }
bool is_caliper_json(const fs::path&, std::string_view head) { return is_json_with(head, {"\"data\""}) && head.find("$schema") == std::string_view::npos; }
bool is_caliper_text(const fs::path&, std::string_view head) { return head.substr(0, 6) == "__rec="; }
bool is_speedscope(const fs::path&, std::string_view head) { return is_json_with(head, {"speedscope"}) || is_json_with(head, {"\"shared\"", "\"frames\""}); }
bool is_hatchet(const fs::path&, std::string_view head) { return is_json_with(head, {"\"frame\"", "\"metrics\""}); }
bool is_hatchet_json(const fs::path&, std::string_view head) { return is_json_with(head, {"\"graph\"", "\"children\""}); }
bool is_gprof(const fs::path&, std::string_view head) { return head.substr(0, 200).find("Flat profile:") != std::string_view::npos; }
/// The first field of a protocol buffer with sample types: field 1, a message.
bool is_pprof(const fs::path& place, std::string_view head) {
    const std::string name = place.filename().string();
    return head.substr(0, 1) == "\x0a" && (name.find(".pb") != std::string::npos || name.find("pprof") != std::string::npos ||
                                           (head.size() > 3 && static_cast<unsigned char>(head[1]) < 16 && head[2] == '\x08'));
}
/// A line "a;b;c 12".
bool is_folded(const fs::path&, std::string_view head) {
    const std::string_view line = head.substr(0, head.find('\n'));
    const std::size_t space = line.rfind(' ');
    return space != std::string_view::npos && space > 0 && space + 1 < line.size() &&
           line.find_first_not_of("0123456789.\r", space + 1) == std::string_view::npos;
}

// Folders first, then files that say what they are, then those that look like it.
constexpr ImportFormat formats[] = {
    {"hpctoolkit", "HPCToolkit databases, version 3", is_hpctoolkit, read_hpctoolkit},
    {"hpctoolkit4", "HPCToolkit databases, version 4", is_hpctoolkit_4, read_hpctoolkit_4},
    {"csv", "the tables of libprofile export --format csv", is_csv, read_csv},
    {"tau", "TAU profiles (profile.0.0.0, ...)", is_tau, read_tau},
    {"cubex", "Cube 4: Score-P, Scalasca", is_cubex, read_cubex},
    {"caliper-text", "Caliper, .cali", is_caliper_text, read_caliper_text},
    {"speedscope", "speedscope", is_speedscope, read_speedscope},
    {"hatchet", "Hatchet's to_json", is_hatchet_json, read_hatchet_json},
    {"literal", "Hatchet's literals: nested frame, metrics, children", is_hatchet, read_hatchet_literal},
    {"caliper", "Caliper's JSON-split", is_caliper_json, read_caliper_json},
    {"gprof", "gprof's text: the flat profile", is_gprof, read_gprof},
    {"pprof", "pprof", is_pprof, read_pprof},
    {"folded", "folded stacks", is_folded, read_folded},
};

std::string head_of(const fs::path& place) {
    std::error_code error;
    if (!fs::is_regular_file(place, error)) return {};
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(place.c_str(), "rb"), gzclose);
    if (!in) return {};
    std::string head(4096, '\0');
    const int got = gzread(in.get(), head.data(), static_cast<unsigned>(head.size()));
    head.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return head;
}

} // namespace

std::span<const ImportFormat> import_formats() { return formats; }

const ImportFormat* import_format(const fs::path& place) {
    const std::string head = head_of(place);
    for (const ImportFormat& format : formats)
        if (format.is_it(place, head)) return &format;
    return nullptr;
}

Frame import_frame(const fs::path& place) {
    std::error_code error;
    if (!fs::exists(place, error)) throw FrameError(fmt::format("{} is not there", place.string()));
    const ImportFormat* format = import_format(place);
    if (format == nullptr) {
        std::string names;
        for (const ImportFormat& one : formats) names += (names.empty() ? "" : ", ") + std::string(one.name);
        throw FrameError(fmt::format("{} is no profile of libprofile and of no other tool that it reads ({})", place.string(), names));
    }
    try {
        Frame frame = format->read(place);
        frame.source = place.string();
        frame.tool = format->what;
        return frame;
    } catch (const FrameError& e) {
        throw FrameError(fmt::format("{} cannot be read as {}: {}", place.string(), format->what, e.what()));
    } catch (const std::filesystem::filesystem_error& e) {
        throw FrameError(fmt::format("{} cannot be read: {}", place.string(), e.code().message()));
    } catch (const std::bad_alloc&) {
        throw FrameError(fmt::format("{} cannot be read as {}: it asks for more memory than there is", place.string(), format->what));
    } catch (const std::length_error&) {
        throw FrameError(fmt::format("{} cannot be read as {}: it asks for more memory than there is", place.string(), format->what));
    } catch (const nlohmann::json::exception&) { // of a value that is text where a number should be, say
        throw FrameError(fmt::format("{} cannot be read as {}: some part is of another type than the format says", place.string(), format->what));
    }
}

} // namespace libprofile::tools
