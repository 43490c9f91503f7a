#include "tools/import/file_bytes.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <zlib.h>

namespace libprofile::tools {

std::string file_bytes(const std::filesystem::path& file, MemoryLimit& memory) {
    const auto fail = [&](const char* why) { throw FrameError(fmt::format("{} {}", file.string(), why)); };
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) fail("is no file");
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (error) fail("cannot be read");
    std::ifstream in(file, std::ios::binary);
    memory.take(size);
    std::string bytes(size, '\0');
    if (!in.read(bytes.data(), static_cast<std::streamsize>(size))) fail("cannot be read");
    if (bytes.substr(0, 2) != "\x1f\x8b") return bytes;
    std::string unpacked = inflated(bytes, MemoryLimit::most_for(bytes.size()));
    memory.unpacked(unpacked.size());
    memory.take(unpacked.size());
    return unpacked;
}

std::string inflated(std::string_view packed, std::size_t most) {
    z_stream stream{};
    if (inflateInit2(&stream, 15 + 32) != Z_OK) throw std::bad_alloc(); // gzip or zlib
    const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
    std::string bytes;
    std::size_t at = 0;
    for (int state = Z_OK; at < packed.size();) {
        char room[1 << 16];
        const std::size_t part = std::min<std::size_t>(packed.size() - at, 1u << 30);     // zlib counts in 32 bits
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + at)); // zlib only reads it
        stream.avail_in = static_cast<uInt>(part);
        stream.next_out = reinterpret_cast<Bytef*>(room);
        stream.avail_out = sizeof room;
        state = inflate(&stream, Z_NO_FLUSH);
        at += part - stream.avail_in;
        const std::size_t got = sizeof room - stream.avail_out;
        if (bytes.size() + got > most) throw FrameError("it unpacks to more than it should; unpack it yourself if you trust it");
        if (bytes.capacity() - bytes.size() < got) bytes.reserve(std::min(2 * bytes.capacity() + sizeof room, most));
        bytes.append(room, got);
        if (state == Z_STREAM_END) {
            if (at == packed.size()) return bytes;
            inflateReset(&stream);
        } else if (state != Z_OK || (stream.avail_out != 0 && at == packed.size())) {
            break;
        }
    }
    throw FrameError("what is packed is damaged, or ends early");
}

double number_in(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) throw FrameError(fmt::format("\"{}\" is no number", text.substr(0, 40)));
    return value;
}

std::uint64_t whole_number_in(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) throw FrameError(fmt::format("\"{}\" is no whole number", text.substr(0, 40)));
    return value;
}

std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    return line;
}

} // namespace libprofile::tools
