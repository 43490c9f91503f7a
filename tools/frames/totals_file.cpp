#include "tools/frames/totals_file.hpp"

#include "tools/reader/blocks.hpp"
#include "tools/reader/encoded.hpp"
#include "tools/reader/raw_records.hpp"
#include "tools/reader/reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/mman.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace libprofile::tools {

namespace {

using ByteVector = std::vector<unsigned char>;

Text view(const std::string& text) { return {text.data(), text.size()}; }

constexpr std::size_t numbers_of_record = 4; // thread, metric, rows, runs

void encode_runs(Encoder& e, std::uint32_t thread, std::uint32_t metric, const PathColumn& column) {
    const auto for_each_run = [&](const auto& visit) {
        std::uint64_t end = 0; // of the run before
        for (std::size_t i = 0; i < column.path.size();) {
            std::size_t last = i + 1;
            while (last < column.path.size() && column.path[last] == column.path[last - 1] + 1) ++last;
            visit(column.path[i] - end, last - i);
            end = std::uint64_t{column.path[last - 1]} + 1;
            i = last;
        }
    };
    TotalsRecord record{thread, metric, column.path.size(), 0};
    for_each_run([&](std::uint64_t, std::uint64_t) { ++record.runs; });
    describe(e, record);
    for_each_run([&](std::uint64_t gap, std::uint64_t length) {
        e.number(gap);
        e.number(length);
    });
}

void encode_values(Encoder& e, const PathColumn& column) {
    for (const std::uint64_t value : column.value) e.number(value);
}

BlockHeader header_of(BlockType type, std::uint32_t rank, std::span<const unsigned char> payload) {
    return {block_magic, static_cast<std::uint32_t>(type), payload.size(), payload.size(), checksum(payload), rank};
}

bool read_all(int file, std::uint64_t at, unsigned char* bytes, std::size_t size) {
    for (std::size_t have = 0; have < size;) {
        const ssize_t got = ::pread(file, bytes + have, size - have, static_cast<off_t>(at + have));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        have += static_cast<std::size_t>(got);
    }
    return true;
}

} // namespace

std::unique_ptr<TotalsWriter> TotalsWriter::open(const std::filesystem::path& folder) {
    std::optional<ReplacedFile> replaced = folder.empty() ? std::nullopt : ReplacedFile::open(folder, totals_file);
    const int file = folder.empty() ? ::memfd_create("libprofile totals", MFD_CLOEXEC) : replaced ? ::dup(replaced->descriptor()) : -1;
    if (file < 0) return nullptr;
    std::unique_ptr<TotalsWriter> writer(new TotalsWriter(std::move(replaced), file));
    FileHeader header{};
    std::memcpy(header.magic, file_magic, sizeof file_magic);
    header.version = format_version;
    writer->failed_ = ::write(file, &header, sizeof header) != static_cast<ssize_t>(sizeof header);
    writer->size_ = sizeof header;
    return writer;
}

TotalsWriter::~TotalsWriter() { ::close(file_); }

void TotalsWriter::append(const BlockHeader& header, std::span<const unsigned char> payload) {
    constexpr unsigned char zeros[8] = {};
    const std::size_t padding = (8 - payload.size() % 8) % 8;
    put({reinterpret_cast<const unsigned char*>(&header), sizeof header});
    put(payload);
    put({zeros, padding});
    size_ += sizeof header + payload.size() + padding;
}

void TotalsWriter::put(std::span<const unsigned char> bytes) {
    while (!failed_ && !bytes.empty()) {
        const ssize_t done = ::write(file_, bytes.data(), bytes.size());
        if (done < 0 && errno == EINTR) continue;
        failed_ = done <= 0;
        bytes = bytes.subspan(failed_ ? 0 : static_cast<std::size_t>(done));
    }
}

void TotalsWriter::add(std::uint32_t rank, std::uint32_t thread, std::uint32_t metric, const PathColumn& column, std::vector<unsigned char>& room) {
    constexpr std::size_t most = 10;                                  // bytes of a number
    room.resize(most * (3 * column.path.size() + numbers_of_record)); // at worst each path is a run of its own
    Encoder encoder(room.data(), room.size());
    encode_runs(encoder, thread, metric, column);
    encode_values(encoder, column);
    const auto payload = std::span(room).first(encoder.size());
    const BlockHeader header = header_of(BlockType::Totals, rank, payload);
    const std::lock_guard lock(mutex_);
    places_.push_back({rank, thread, metric, column.path.size(), size_, payload.size()});
    append(header, payload);
}

bool TotalsWriter::finish(const TotalsKey& key, const std::vector<TotalsSum>& sums) {
    const std::uint64_t index_at = size_;
    const ByteVector index_bytes = encoded([&](Encoder& e) {
        TotalsIndexRecord index{totals_method, LIBPROFILE_VERSION, key.paths, key.threads, key.files.size(), key.metrics.size(), places_.size(), sums.size()};
        describe(e, index);
        for (const TotalsKey::File& file : key.files) {
            e.text(view(file.name));
            e.number(file.size);
            e.number(file.mtime_ns);
        }
        for (const std::string& metric : key.metrics) e.text(view(metric));
        for (TotalsPlaceRecord place : places_) describe(e, place);
        for (const TotalsSum& sum : sums) {
            encode_runs(e, 0, sum.metric, sum.column);
            encode_values(e, sum.column);
        }
    });
    append(header_of(BlockType::Totals, no_rank, index_bytes), index_bytes);
    FooterRecord footer{size_ + sizeof(BlockHeader) + sizeof(FooterRecord), index_at, 0, {}};
    std::memcpy(footer.magic, end_magic, sizeof end_magic);
    const std::span<const unsigned char> footer_bytes(reinterpret_cast<const unsigned char*>(&footer), sizeof footer);
    append(header_of(BlockType::Footer, no_rank, footer_bytes), footer_bytes);
    if (failed_) return false;
    if (replaced_) replaced_->commit(); // without a name it serves this process
    return true;
}

std::shared_ptr<const TotalsFile> TotalsFile::open(const std::filesystem::path& path, const TotalsKey& key) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return nullptr;
    std::shared_ptr<const TotalsFile> result = open(file, key);
    ::close(file);
    return result;
}

std::shared_ptr<const TotalsFile> TotalsFile::open(int file, const TotalsKey& key) {
    struct stat status {};
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
    const int own = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return nullptr;
    std::shared_ptr<TotalsFile> result(new TotalsFile(own, static_cast<std::uint64_t>(status.st_size)));
    return result->read_index(key) ? result : nullptr;
}

TotalsFile::~TotalsFile() { ::close(file_); }

/// A block that is not compressed.
bool TotalsFile::load(std::uint64_t at, std::uint64_t size, BlockType type, std::uint32_t rank, ByteVector& bytes) const {
    BlockHeader header{};
    if (at > size_ || size_ - at < sizeof header || size > size_ - at - sizeof header ||
        !read_all(file_, at, reinterpret_cast<unsigned char*>(&header), sizeof header))
        return false;
    if (header.magic != block_magic || header.type != static_cast<std::uint32_t>(type) || header.stored_size != size || header.raw_size != size ||
        header.rank != rank)
        return false;
    bytes.resize(static_cast<std::size_t>(size));
    return read_all(file_, at + sizeof header, bytes.data(), bytes.size()) && checksum(bytes) == header.crc;
}

bool TotalsFile::read_index(const TotalsKey& key) {
    FileHeader file{};
    FooterRecord footer{};
    BlockHeader header{};
    ByteVector bytes;
    if (size_ < sizeof file + sizeof header + sizeof footer || !read_all(file_, 0, reinterpret_cast<unsigned char*>(&file), sizeof file) ||
        std::memcmp(file.magic, file_magic, sizeof file_magic) != 0 || file.version != format_version ||
        !load(size_ - sizeof footer - sizeof header, sizeof footer, BlockType::Footer, no_rank, bytes))
        return false;
    std::memcpy(&footer, bytes.data(), sizeof footer);
    if (std::memcmp(footer.magic, end_magic, sizeof end_magic) != 0 || footer.file_size != size_ || footer.table_at > size_ - sizeof header ||
        !read_all(file_, footer.table_at, reinterpret_cast<unsigned char*>(&header), sizeof header) ||
        !load(footer.table_at, header.stored_size, BlockType::Totals, no_rank, bytes))
        return false;
    Decoder d(bytes.data(), bytes.size());
    TotalsIndexRecord index;
    describe(d, index);
    // The smallest of each: a text and two numbers, a text, six numbers, four numbers.
    if (d.failed() || index.method != totals_method || owned(index.version) != LIBPROFILE_VERSION || index.files > d.remaining() / 3 ||
        index.metrics > d.remaining() || index.blocks > d.remaining() / 6 || index.sums > d.remaining() / 4)
        return false;
    TotalsKey found{{}, {}, index.paths, index.threads};
    for (std::uint64_t i = 0; i < index.files; ++i) {
        Text name;
        TotalsKey::File& one = found.files.emplace_back();
        d.text(name);
        d.number(one.size);
        d.number(one.mtime_ns);
        one.name = owned(name);
    }
    for (std::uint64_t i = 0; i < index.metrics; ++i) {
        Text name;
        d.text(name);
        found.metrics.push_back(owned(name));
    }
    if (d.failed() || found != key) return false;
    paths_ = index.paths;
    std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> known;
    std::uint64_t end = sizeof(FileHeader);
    for (std::uint64_t i = 0; i < index.blocks; ++i) {
        TotalsPlaceRecord r;
        describe(d, r);
        if (d.failed() || r.rank >= rank_limit || r.thread > max_id || r.metric >= key.metrics.size() || r.rows > r.size || r.at < end || r.at > size_ ||
            r.size > size_ - r.at || !known.emplace(r.rank, r.thread, r.metric).second)
            return false;
        end = r.at + r.size;
        places_.push_back(
            {static_cast<std::uint32_t>(r.rank), static_cast<std::uint32_t>(r.thread), static_cast<std::uint32_t>(r.metric), r.rows, r.at, r.size});
    }
    std::set<std::uint64_t> summed;
    for (std::uint64_t i = 0; i < index.sums; ++i) {
        TotalsRecord r;
        describe(d, r);
        if (r.metric >= key.metrics.size() || !summed.insert(r.metric).second) return false;
        TotalsSum& sum = sums_.emplace_back();
        sum.metric = static_cast<std::uint32_t>(r.metric);
        const auto take = [&](std::uint32_t path, std::uint64_t value) {
            sum.column.path.push_back(path);
            sum.column.value.push_back(value);
        };
        if (!visit_totals(d, r, paths_, take)) return false;
    }
    return d.remaining() == 0;
}

} // namespace libprofile::tools
