#include "tools/view/encoding.hpp"

#include <new>
#include <zlib.h>

namespace libprofile::tools {

ByteList deflated(const ByteList& bytes) {
    uLongf size = compressBound(bytes.size());
    ByteList out(size);
    // A buffer of that bound never is too small, so that want of memory is the only failure.
    if (compress2(out.data(), &size, bytes.data(), bytes.size(), 6) != Z_OK) throw std::bad_alloc();
    out.resize(size);
    return out;
}

std::string base64(const ByteList& bytes) {
    constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = bytes.size() - i;
        const unsigned three = static_cast<unsigned>(bytes[i]) << 16 | (left > 1 ? static_cast<unsigned>(bytes[i + 1]) << 8 : 0) |
                               (left > 2 ? static_cast<unsigned>(bytes[i + 2]) : 0);
        out += digits[three >> 18];
        out += digits[three >> 12 & 63];
        out += left > 1 ? digits[three >> 6 & 63] : '=';
        out += left > 2 ? digits[three & 63] : '=';
    }
    return out;
}

} // namespace libprofile::tools
