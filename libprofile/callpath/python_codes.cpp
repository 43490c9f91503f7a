#include "libprofile/callpath/python_codes.hpp"

#include "libprofile/base/hashing.hpp"
#include "libprofile/callpath/python_names.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace libprofile {

namespace {

template <class T> T at(const unsigned char* bytes, std::uint32_t offset) {
    T value;
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
}

/// Appends a character in UTF-8. Returns the new size; 0 if there is no room. Control characters would end the name's part of the text.
std::size_t append(char* text, std::size_t size, std::size_t room, std::uint32_t c) {
    if (c < 0x20 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) c = '?';
    const std::size_t more = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (size + more > room) return 0;
    if (more == 1) {
        text[size] = static_cast<char>(c);
        return size + 1;
    }
    constexpr unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (std::size_t i = more; i-- > 1; c >>= 6) text[size + i] = static_cast<char>(0x80u | (c & 0x3fu));
    text[size] = static_cast<char>(lead[more] | c);
    return size + more;
}

/// Copies a str object; of a long one the end, which says more of a file. Returns false if it is none.
bool copy_text(std::uintptr_t object, SafeMemory& memory, char* to, std::size_t room) {
    const PythonLayout& layout = python_process.layout();
    std::uintptr_t type = 0;
    std::int64_t length = 0;
    std::uint32_t state = 0;
    if (!memory.read(object + layout.object_type, type) || type != python_process.text_type() || !memory.read(object + layout.text_length, length) ||
        !memory.read(object + layout.text_state, state))
        return false;
    const unsigned kind = state >> 2 & 7;
    const bool is_compact = (state >> 5 & 1) != 0, is_ascii = (state >> 6 & 1) != 0, is_ready = (state >> 7 & 1) != 0;
    if (!is_compact || !is_ready || (kind != 1 && kind != 2 && kind != 4) || length <= 0 || length > 1 << 20) return false;
    std::uintptr_t from = object + (is_ascii ? layout.text_ascii : layout.text_compact);
    auto left = static_cast<std::size_t>(length);
    std::size_t size = 0;
    if (left > room) {
        from += (left - room + 3) * kind;
        left = room - 3;
        std::memcpy(to, "...", 3);
        size = 3;
    }
    for (; left != 0; --left, from += kind) {
        std::uint32_t c = 0;
        if (!memory.read(from, &c, kind)) return false;
        const std::size_t now = append(to, size, room, c);
        if (now == 0) break;
        size = now;
    }
    to[size] = 0;
    return size != 0;
}

std::uint64_t function_id(std::uintptr_t name, std::uintptr_t file, std::uint32_t line, SafeMemory& memory) {
    constexpr std::size_t most = 240;
    static_assert(2 * most + 2 + 10 < PythonNames::most_bytes);
    char name_text[most + 1], file_text[most + 1], text[PythonNames::most_bytes + 1];
    if (!copy_text(name, memory, name_text, most) || !copy_text(file, memory, file_text, most)) return 0;
    std::snprintf(text, sizeof text, "%s\n%s\n%u", name_text, file_text, line); // of texts and integers: it allocates nothing
    return python_names.know(text);
}

/// Reads the entries of a table of lines (CPython, Objects/locations.md).
class LineEntries {
  public:
    LineEntries(std::uintptr_t at, std::uintptr_t end, SafeMemory& memory) : at_(at), end_(end), memory_(&memory) {}

    std::uint32_t units = 0; // of the entry: code units of two bytes
    std::int64_t change = 0; // of the line
    bool has_line = false;

    /// Returns false at the end, or if the table is damaged.
    bool next() noexcept {
        unsigned char first = 0;
        if (!byte(first) || (first & 0x80) == 0) return false;
        units = (first & 7u) + 1;
        const unsigned kind = first >> 3 & 15u;
        change = 0;
        has_line = kind != 15;
        if (kind == 14 || kind == 13)
            change = signed_number();
        else if (kind >= 10 && kind <= 12)
            change = kind - 10;
        unsigned char rest = 0; // columns
        while (at_ < end_ && memory_->read(at_, rest) && (rest & 0x80) == 0) ++at_;
        return !failed_;
    }

  private:
    bool byte(unsigned char& value) noexcept { return at_ < end_ && memory_->read(at_++, value); }
    std::int64_t signed_number() noexcept {
        std::uint64_t value = 0;
        unsigned char part = 0;
        for (unsigned shift = 0; shift < 60; shift += 6) {
            if (!byte(part)) break;
            value |= std::uint64_t{part & 63u} << shift;
            if ((part & 64) == 0) return (value & 1) != 0 ? -static_cast<std::int64_t>(value >> 1) : static_cast<std::int64_t>(value >> 1);
        }
        failed_ = true;
        return 0;
    }

    std::uintptr_t at_, end_;
    SafeMemory* memory_;
    bool failed_ = false;
};

} // namespace

std::uint32_t PythonCodes::line_of(const Object& object, std::uintptr_t instruction, SafeMemory& memory) noexcept {
    const PythonLayout& layout = python_process.layout();
    const std::uintptr_t begin = object.code + layout.code_begin;
    if (instruction < begin || instruction - begin > 1u << 26) return object.first_line; // a new frame: before the first instruction
    const auto offset = static_cast<std::uint32_t>(instruction - begin);
    Line& known = lines_[short_hash(object.code ^ (std::uint64_t{offset} << 32), line_bits)];
    if (known.code == object.code && known.offset == offset && known.generation == object.generation) return known.line;
    std::uintptr_t type = 0;
    std::int64_t bytes = 0;
    std::uint32_t line = 0;
    if (memory.read(object.lines + layout.object_type, type) && type == python_process.bytes_type() && memory.read(object.lines + layout.object_size, bytes) &&
        bytes > 0 && bytes < 1 << 20) {
        const std::uintptr_t table = object.lines + layout.bytes_begin;
        LineEntries entries(table, table + static_cast<std::uintptr_t>(bytes), memory);
        std::int64_t current = object.first_line;
        for (std::uint64_t end = 0; entries.next();) {
            current += entries.change;
            end += entries.units * 2;
            if (offset >= end) continue;
            if (entries.has_line && current > 0 && current <= 0xffffff) line = static_cast<std::uint32_t>(current);
            break;
        }
    }
    known = {object.code, offset, object.generation, line};
    return line;
}

std::uint64_t PythonCodes::identity(const unsigned char* head) noexcept {
    const PythonLayout& layout = python_process.layout();
    return at<std::uint64_t>(head, layout.code_name) * golden ^ at<std::uint64_t>(head, layout.code_lines);
}

bool PythonCodes::find(std::uintptr_t code, const unsigned char* head, std::uintptr_t instruction, SafeMemory& memory, Place& place) noexcept {
    const PythonLayout& layout = python_process.layout();
    const auto references = at<std::int64_t>(head, 0);
    if (at<std::uintptr_t>(head, layout.object_type) != python_process.code_type() || references <= 0 || references > std::int64_t{1} << 40) return false;
    const auto file = at<std::uintptr_t>(head, layout.code_file), name = at<std::uintptr_t>(head, layout.code_name),
               lines = at<std::uintptr_t>(head, layout.code_lines);
    const auto first_line = static_cast<std::uint32_t>(std::max(0, at<std::int32_t>(head, layout.code_line)));
    Object& object = objects_[short_hash(code, object_bits)];
    if (object.code != code || object.file != file || object.name != name || object.lines != lines || object.first_line != first_line) {
        const std::uint64_t function = function_id(name, file, first_line, memory);
        if (function == 0) return false;
        object = {code, file, name, lines, first_line, ++generation_, function};
    }
    place = {object.function, line_of(object, instruction, memory)};
    return true;
}

} // namespace libprofile
