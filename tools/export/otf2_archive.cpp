#include "tools/export/otf2_archive.hpp"

#include "tools/export/call_table.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <vector>

namespace libprofile::tools {

namespace {

namespace fs = std::filesystem;

/// What the library said first of an error. It would write that to standard error.
std::string first_words;
OTF2_ErrorCode note_error(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char* format, va_list arguments) {
    std::array<char, 512> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    if (first_words.empty()) first_words = fmt::format("{} ({})", OTF2_Error_GetDescription(code), text.data());
    return code;
}

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
const OTF2_FlushCallbacks flush_callbacks = {flush_always, nullptr};

constexpr const char* name_of_archive = "traces";

} // namespace

Otf2Archive::Folder::Folder() {
    first_words.clear();
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    std::string place = (temporary / "libprofile-otf2-XXXXXX").string();
    if (error || mkdtemp(place.data()) == nullptr) throw ExportError("cannot make a temporary folder; TMPDIR names the folder for it");
    path = place;
    OTF2_Error_RegisterCallback(note_error, nullptr);
}

Otf2Archive::Folder::~Folder() {
    OTF2_Error_RegisterCallback(nullptr, nullptr);
    std::error_code error;
    fs::remove_all(path, error);
}

Otf2Archive::Otf2Archive(const std::string& creator)
    : archive_(OTF2_Archive_Open((folder_.path / "archive").c_str(), name_of_archive, OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                                 OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)) {
    if (archive_ == nullptr) check(OTF2_ERROR_INVALID);
    check(OTF2_Archive_SetFlushCallbacks(archive_.get(), &flush_callbacks, nullptr));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_.get()));
    check(OTF2_Archive_SetCreator(archive_.get(), creator.c_str()));
    check(OTF2_Archive_OpenEvtFiles(archive_.get()));
    check(OTF2_Archive_OpenDefFiles(archive_.get()));
    definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_.get());
    if (definitions_ == nullptr) check(OTF2_ERROR_INVALID);
}

void Otf2Archive::check(OTF2_ErrorCode code) const {
    if (code == OTF2_SUCCESS) return;
    throw ExportError(fmt::format("the OTF2 library cannot write to {}: {}; TMPDIR names another folder", folder_.path.string(),
                                  first_words.empty() ? OTF2_Error_GetDescription(code) : first_words));
}

OTF2_EvtWriter* Otf2Archive::open_events(OTF2_LocationRef location) {
    OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive_.get(), location);
    if (writer == nullptr) check(OTF2_ERROR_INVALID);
    return writer;
}

std::uint64_t Otf2Archive::close_events(OTF2_EvtWriter* writer) {
    std::uint64_t count = 0;
    check(OTF2_EvtWriter_GetNumberOfEvents(writer, &count));
    OTF2_LocationRef location = 0;
    check(OTF2_EvtWriter_GetLocationID(writer, &location));
    check(OTF2_Archive_CloseEvtWriter(archive_.get(), writer));
    // Readers expect definitions of each location, even if all are global.
    OTF2_DefWriter* own = OTF2_Archive_GetDefWriter(archive_.get(), location);
    if (own == nullptr) check(OTF2_ERROR_INVALID);
    check(OTF2_Archive_CloseDefWriter(archive_.get(), own));
    return count;
}

void Otf2Archive::end_events() {
    check(OTF2_Archive_CloseEvtFiles(archive_.get()));
    check(OTF2_Archive_CloseDefFiles(archive_.get()));
}

OTF2_StringRef Otf2Archive::text(const std::string& value) {
    const auto [at, is_new] = texts_.emplace(value, static_cast<OTF2_StringRef>(texts_.size()));
    if (is_new) check(OTF2_GlobalDefWriter_WriteString(definitions_, at->second, value.c_str()));
    return at->second;
}

void Otf2Archive::finish(Sink& sink) {
    check(OTF2_Archive_Close(archive_.release()));
    const fs::path root = folder_.path / "archive";
    std::vector<char> piece(std::size_t{1} << 20);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
        if (!entry.is_regular_file()) continue;
        const std::string name = fs::relative(entry.path(), root).string();
        std::ifstream file(entry.path(), std::ios::binary);
        do {
            file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
            sink.add(name, {piece.data(), static_cast<std::size_t>(file.gcount())});
        } while (file);
        if (!file.eof()) throw ExportError(fmt::format("cannot read {}", entry.path().string()));
    }
}

} // namespace libprofile::tools
