#include "libprofile/merge/path_table.hpp"

#include "format/regions.hpp"
#include "libprofile/base/hashing.hpp"

#include <cstring>

namespace libprofile {

namespace {

int compare_texts(Text a, Text b) {
    const std::size_t common = a.size < b.size ? a.size : b.size;
    const int order = common == 0 ? 0 : std::memcmp(a.data, b.data, common);
    if (order != 0 || a.size == b.size) return order;
    return a.size < b.size ? -1 : 1;
}

constexpr unsigned kind_bits = 4;
static_assert(static_cast<unsigned>(NodeKind::Python) < 1u << kind_bits);

} // namespace

int compare(const ModuleRecord& a, const ModuleRecord& b) noexcept {
    if (const int order = compare_texts(a.build_id, b.build_id); order != 0) return order;
    return a.build_id.size != 0 ? 0 : compare_texts(a.path, b.path);
}

int compare(const FunctionRecord& a, const FunctionRecord& b) noexcept { return compare_texts(a.name, b.name); }

void TableSignature::add(std::uint64_t value) {
    words[0] = mix(words[0] * golden + value);
    words[1] = mix(words[1] * 0xc2b2ae3d27d4eb4fu + (value ^ 0x5851f42d4c957f2du));
}

void TableSignature::add(Text text) {
    add(text.size);
    for (std::size_t i = 0; i < text.size; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data + i, text.size - i < 8 ? text.size - i : 8);
        add(word);
    }
}

TableSignature PathTable::signature() const noexcept {
    TableSignature result;
    result.add(module_count());
    for (std::size_t i = 0; i < module_count(); ++i) {
        const ModuleRecord record = module(i);
        result.add(record.build_id);
        if (record.build_id.size == 0) result.add(record.path);
    }
    result.add(function_count());
    for (std::size_t i = 0; i < function_count(); ++i) result.add(function(i).name);
    for (std::size_t i = 0; i < size(); ++i) {
        const TableNode& node = nodes_[i];
        result.add((std::uint64_t{node.parent} << 32) | node.what);
        result.add(node.b);
    }
    return result;
}

template <class Codec> void PathTable::encode(Codec& encoder) const {
    encoder.number(module_count());
    for (std::size_t i = 0; i < module_count(); ++i) {
        ModuleRecord record = module(i);
        describe(encoder, record);
    }
    encoder.number(function_count());
    for (std::size_t i = 0; i < function_count(); ++i) {
        FunctionRecord record = function(i);
        describe(encoder, record);
    }
    encoder.number(size());
    TableNode before;
    for (std::size_t i = 1; i < size(); ++i) {
        const TableNode& node = nodes_[i];
        encoder.number((std::uint64_t{node.parent - before.parent} << kind_bits) | static_cast<std::uint64_t>(node.kind()));
        encoder.number(node.target());
        const bool differs_in_b = node.parent == before.parent && node.what == before.what;
        encoder.number(differs_in_b ? node.b - before.b : node.b);
        before = node;
    }
}
template void PathTable::encode<Encoder>(Encoder&) const;

bool PathTable::decode(const unsigned char* bytes, std::size_t bytes_size) noexcept {
    clear();
    Decoder decoder(bytes, bytes_size);
    std::uint64_t modules = 0, functions = 0, nodes = 0;
    decoder.number(modules);
    for (std::uint64_t i = 0; i < modules; ++i) {
        ModuleRecord record;
        describe(decoder, record);
        if (decoder.failed() || (i != 0 && compare(module(i - 1), record) >= 0) || !add_module(record)) return false;
    }
    decoder.number(functions);
    for (std::uint64_t i = 0; i < functions; ++i) {
        FunctionRecord record;
        describe(decoder, record);
        if (decoder.failed() || (i != 0 && compare(function(i - 1), record) >= 0) || !add_function(record)) return false;
    }
    decoder.number(nodes);
    if (decoder.failed() || nodes == 0 || (nodes - 1) > decoder.remaining() / 3 || !nodes_.reserve(nodes)) return false;
    TableNode before;
    if (!add_node(before)) return false;
    for (std::uint64_t i = 1; i < nodes; ++i) {
        std::uint64_t packed = 0, target = 0, b = 0;
        decoder.number(packed);
        decoder.number(target);
        decoder.number(b);
        const std::uint64_t parent = before.parent + (packed >> kind_bits);
        if (decoder.failed() || parent >= i || target >= TableNode::most_targets) return false;
        const auto kind = static_cast<std::uint32_t>(packed & ((1u << kind_bits) - 1));
        if (!is_stored_kind(kind)) return false;
        TableNode node{static_cast<std::uint32_t>(parent), (kind << TableNode::kind_shift) | static_cast<std::uint32_t>(target), b};
        if (node.parent == before.parent && node.what == before.what) node.b += before.b;
        const std::uint64_t targets = is_in_module(node.kind())         ? modules
                                      : is_call(node.kind())            ? functions
                                      : node.kind() == NodeKind::Region ? static_cast<std::uint64_t>(RegionClass::Count)
                                      : node.kind() == NodeKind::Python ? TableNode::most_targets
                                                                        : 1;
        if (target >= targets || !(before < node) || !add_node(node)) return false;
        before = node;
    }
    return !decoder.failed() && decoder.remaining() == 0;
}

bool PathTable::add_text(Text text, Piece& piece) noexcept {
    piece = {static_cast<std::uint32_t>(texts_.size()), static_cast<std::uint32_t>(text.size)};
    if (text.size == 0) return true;
    if (texts_.size() + text.size > 0xffffffffu) return false;
    char* copy = texts_.append(text.size);
    if (copy == nullptr) return false;
    std::memcpy(copy, text.data, text.size);
    return true;
}

bool PathTable::add_module(const ModuleRecord& record) noexcept {
    TableModule added{};
    if (module_count() >= TableNode::most_targets || !add_text(record.build_id, added.build_id) || !add_text(record.path, added.path)) return false;
    TableModule* slot = modules_.append();
    if (slot != nullptr) *slot = added;
    return slot != nullptr;
}

bool PathTable::add_function(const FunctionRecord& record) noexcept {
    TableFunction added{};
    added.category = record.category;
    if (function_count() >= TableNode::most_targets || !add_text(record.name, added.name)) return false;
    TableFunction* slot = functions_.append();
    if (slot != nullptr) *slot = added;
    return slot != nullptr;
}

void PathTable::clear() noexcept {
    texts_.shorten(0);
    modules_.shorten(0);
    functions_.shorten(0);
    nodes_.shorten(0);
}

void PathTable::release() noexcept {
    texts_.release();
    modules_.release();
    functions_.release();
    nodes_.release();
}

} // namespace libprofile
