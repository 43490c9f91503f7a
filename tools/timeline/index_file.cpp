#include "tools/timeline/index_file.hpp"

#include "format/fnv.hpp"
#include "tools/reader/encoded.hpp"
#include "tools/reader/raw_records.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace libprofile::tools {

namespace {

namespace fs = std::filesystem;

constexpr char magic[8] = {'L', 'P', 'T', 'I', 'M', 'E', 'I', 'X'};
/// Another one if the same events give other indexes.
constexpr std::uint64_t method = 6;

/// The end of the file.
struct IndexFooter {
    std::uint64_t at, size; // of the directory
    std::uint64_t method;
    std::uint32_t crc, reserved;
    char magic[8];
};
static_assert(sizeof(IndexFooter) == 40);

std::optional<ReplacedFile> open_beside(const fs::path& path) {
    if (auto beside = ReplacedFile::open(path.parent_path(), path.filename().string())) return beside;
    const fs::path cached = cached_index(path);
    if (cached.empty()) return std::nullopt;
    std::error_code error;
    fs::create_directories(cached.parent_path(), error);
    return ReplacedFile::open(cached.parent_path(), cached.filename().string());
}

template <class Codec> void describe(Codec& c, IndexPlace& p) {
    for (std::uint64_t* number : {&p.rank, &p.thread, &p.block_at, &p.stored_size, &p.raw_size, &p.block_crc, &p.states_crc, &p.at, &p.size, &p.crc})
        c.number(*number);
}

} // namespace

fs::path cached_index(const fs::path& path) {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const fs::path folder = cache != nullptr && cache[0] == '/' ? fs::path(cache) : home != nullptr && home[0] == '/' ? fs::path(home) / ".cache" : fs::path();
    if (folder.empty()) return {};
    std::error_code error;
    const std::string whole = fs::absolute(path, error).lexically_normal().string();
    return folder / "libprofile" / fmt::format("{:016x}.timeline", fnv1a(whole.data(), whole.size()));
}

std::optional<IndexWriter> IndexWriter::open(const fs::path& path) {
    std::optional<ReplacedFile> replaced = open_beside(path);
    const int file = replaced ? ::dup(replaced->descriptor()) : ::memfd_create("libprofile timeline", MFD_CLOEXEC);
    if (file < 0) return std::nullopt;
    return IndexWriter(std::move(replaced), file);
}

IndexWriter::IndexWriter(IndexWriter&& other) noexcept
    : replaced_(std::move(other.replaced_)), file_(std::exchange(other.file_, -1)), size_(other.size_), failed_(other.failed_),
      places_(std::move(other.places_)) {}

IndexWriter::~IndexWriter() {
    if (file_ >= 0) ::close(file_);
}

void IndexWriter::put(std::span<const unsigned char> bytes) {
    size_ += bytes.size();
    while (!failed_ && !bytes.empty()) {
        const ssize_t done = ::write(file_, bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        failed_ = done <= 0;
        bytes = bytes.subspan(failed_ ? 0 : static_cast<std::size_t>(done));
    }
}

void IndexWriter::add(IndexPlace place, BuiltRow* built) {
    if (built != nullptr) {
        for (LeafGroup& group : built->index.groups) group.leaves.at += size_;
        for (IndexBytes& tens : built->index.tens) tens.at += size_;
        put(built->bytes);
        const std::vector<unsigned char> bytes = built->index.encoded();
        place.at = size_;
        place.size = bytes.size();
        place.crc = checksum(bytes);
        put(bytes);
    }
    places_.push_back(place);
}

std::shared_ptr<const ByteSource> IndexWriter::finish() {
    const std::vector<unsigned char> bytes = encoded([&](Encoder& e) {
        e.number(places_.size());
        for (IndexPlace place : places_) describe(e, place);
    });
    IndexFooter footer{size_, bytes.size(), method, checksum(bytes), 0, {}};
    std::memcpy(footer.magic, magic, sizeof magic);
    put(bytes);
    put({reinterpret_cast<const unsigned char*>(&footer), sizeof footer});
    if (failed_) return nullptr;
    auto source = std::make_shared<const FileSource>(file_, "the index of the timeline");
    file_ = -1;
    if (replaced_) replaced_->commit(); // without a name it serves this process
    return source;
}

std::optional<std::vector<IndexPlace>> read_places(const ByteSource& file) {
    IndexFooter footer{};
    if (file.size() < sizeof footer) return std::nullopt;
    const std::vector<unsigned char> end = file.read(file.size() - sizeof footer, sizeof footer);
    if (end.size() != sizeof footer) return std::nullopt;
    std::memcpy(&footer, end.data(), sizeof footer);
    if (std::memcmp(footer.magic, magic, sizeof magic) != 0 || footer.method != method || footer.at > file.size() || footer.size > file.size() - footer.at)
        return std::nullopt;
    const std::vector<unsigned char> bytes = file.read(footer.at, footer.size);
    if (bytes.size() != footer.size || checksum(bytes) != footer.crc) return std::nullopt;
    Decoder d(bytes.data(), bytes.size());
    std::uint64_t count = 0;
    d.number(count);
    if (d.failed() || count > d.remaining() / 10) return std::nullopt;
    std::vector<IndexPlace> places(count);
    for (IndexPlace& place : places) describe(d, place);
    return d.failed() || d.remaining() != 0 ? std::nullopt : std::optional(std::move(places));
}

} // namespace libprofile::tools
