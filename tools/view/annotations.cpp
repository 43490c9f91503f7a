#include "tools/view/annotations.hpp"

#include "tools/reader/replaced_file.hpp"
#include "tools/text/json_text.hpp"
#include "tools/view/page_request.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

using Json = nlohmann::ordered_json;

std::size_t characters_of(const std::string& utf8) {
    return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool is_id(const std::string& id) {
    return !id.empty() && id.size() <= 32 &&
           std::all_of(id.begin(), id.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

std::uint64_t number_in(const Json& json, const char* name, std::uint64_t most) {
    const auto at = json.find(name);
    if (at == json.end() || !at->is_number_unsigned() || at->get<std::uint64_t>() > most)
        throw ViewError(fmt::format("\"{}\" is not a number up to {}", name, most));
    return at->get<std::uint64_t>();
}

std::string text_in(const Json& json, const char* name) {
    const auto at = json.find(name);
    if (at == json.end() || !at->is_string()) throw ViewError(fmt::format("there is no text \"{}\"", name));
    return at->get<std::string>();
}

/// Empty if there is no file. Neither links nor what is no file are opened.
std::optional<std::string> content_of(const std::string& name) {
    const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno == ENOENT) return std::nullopt;
    if (file < 0) throw ViewError(fmt::format("cannot read {}: {}", name, errno == ELOOP ? "it is a link" : std::strerror(errno)));
    struct stat status {};
    std::string text;
    ssize_t got = 1;
    if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        text.resize(AnnotationFile::most_bytes + 1);
        std::size_t size = 0;
        while (size < text.size() && (got = ::read(file, text.data() + size, text.size() - size)) > 0) size += static_cast<std::size_t>(got);
        text.resize(size);
    } else
        got = -1;
    ::close(file);
    if (got < 0) throw ViewError(fmt::format("cannot read {}", name));
    if (text.size() > AnnotationFile::most_bytes) throw ViewError(fmt::format("{} is larger than annotations may be", name));
    return text;
}

} // namespace

Annotation annotation_of(const Json& json) {
    if (!json.is_object()) throw ViewError("it is not an object");
    Annotation one;
    one.id = text_in(json, "id");
    if (!is_id(one.id)) throw ViewError("\"id\" is not 1 to 32 letters and digits");
    one.ns = number_in(json, "ns", Annotation::last_ns);
    one.is_of_all = !json.contains("rank");
    if (!one.is_of_all) {
        one.rank = static_cast<std::uint32_t>(number_in(json, "rank", std::numeric_limits<std::uint32_t>::max()));
        one.thread = json.contains("thread") ? static_cast<std::uint32_t>(number_in(json, "thread", std::numeric_limits<std::uint32_t>::max())) : 0;
    }
    one.text = text_in(json, "text");
    if (characters_of(one.text) > Annotation::longest_text) throw ViewError(fmt::format("\"text\" has more than {} characters", Annotation::longest_text));
    return one;
}

Json json_of(const std::vector<Annotation>& list) {
    Json json = Json::array();
    for (const Annotation& one : list) {
        Json entry = {{"id", one.id}, {"ns", one.ns}};
        if (!one.is_of_all) {
            entry["rank"] = one.rank;
            entry["thread"] = one.thread;
        }
        entry["text"] = one.text;
        json.push_back(entry);
    }
    return json;
}

AnnotationFile::AnnotationFile(const std::filesystem::path& profile) {
    std::error_code error;
    const bool is_folder = std::filesystem::is_directory(profile, error);
    path_ = is_folder ? profile / "annotations.json" : std::filesystem::path(profile.string() + ".annotations.json");
}

std::vector<Annotation> AnnotationFile::read() const {
    const std::optional<std::string> text = content_of(name());
    std::vector<Annotation> list;
    if (!text) return list;
    // Of what is nested deeply nothing is built.
    const Json json = Json::parse(
        *text, [](int depth, Json::parse_event_t, Json&) { return depth <= 4; }, false);
    if (json.is_discarded() || !json.is_object() || !json.contains("annotations") || !json["annotations"].is_array())
        throw ViewError(fmt::format("{} has no list of annotations", name()));
    if (json["annotations"].size() > most) throw ViewError(fmt::format("{} has more than {} annotations", name(), most));
    std::set<std::string> ids;
    for (const Json& entry : json["annotations"]) try {
            list.push_back(annotation_of(entry));
            if (!ids.insert(list.back().id).second) throw ViewError("\"id\" is that of another one");
        } catch (const ViewError& error) {
            throw ViewError(fmt::format("{}, annotation {}: {}", name(), ids.size() + 1, error.what()));
        }
    return list;
}

std::vector<Annotation> AnnotationFile::put(const Annotation& one) const {
    std::vector<Annotation> list = read();
    const auto at = std::find_if(list.begin(), list.end(), [&](const Annotation& other) { return other.id == one.id; });
    if (at != list.end())
        *at = one;
    else if (list.size() < most)
        list.push_back(one);
    else
        throw ViewError(fmt::format("there are {} annotations, which is as many as there may be", most));
    write(list);
    return list;
}

std::vector<Annotation> AnnotationFile::remove(const std::string& id) const {
    std::vector<Annotation> list = read();
    if (std::erase_if(list, [&](const Annotation& one) { return one.id == id; }) != 0) write(list);
    return list;
}

void AnnotationFile::write(const std::vector<Annotation>& list) const {
    const std::string text = json_text({{"format", 1}, {"annotations", json_of(list)}}, 1) + "\n";
    if (text.size() > most_bytes) throw ViewError("the annotations are larger than they may be");
    const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
    std::optional<ReplacedFile> file = ReplacedFile::open(folder, path_.filename().string());
    const bool is_whole =
        file && file->write({reinterpret_cast<const unsigned char*>(text.data()), text.size()}) && ::fsync(file->descriptor()) == 0 && file->commit();
    if (!is_whole) throw ViewError(fmt::format("cannot write {}: {}; the page can save annotations as a file", name(), std::strerror(errno)));
}

Json annotations_entry(const std::string& profile) {
    Json entry = {{"file", ""}, {"problem", ""}, {"list", Json::array()}};
    if (profile.empty()) return entry;
    const AnnotationFile file(profile);
    entry["file"] = file.name();
    try {
        entry["list"] = json_of(file.read());
    } catch (const ViewError& error) {
        entry["problem"] = error.what();
    }
    return entry;
}

} // namespace libprofile::tools
