#include "tools/view/named_columns.hpp"

#include <cstring>

namespace libprofile::tools {

NumberColumn& NamedColumns::column(const char* list, const char* name) {
    for (Named& named : columns_)
        if (std::strcmp(named.list, list) == 0 && std::strcmp(named.name, name) == 0) return named.numbers;
    columns_.push_back({list, name, {}});
    return columns_.back().numbers;
}

void NamedColumns::compress() {
    for (const Named& named : columns_) compressed_.push_back(deflated(named.numbers.bytes()));
}

std::size_t NamedColumns::bytes() const {
    std::size_t sum = 0;
    for (const ByteList& one : compressed_) sum += (one.size() + 2) / 3 * 4;
    return sum;
}

nlohmann::ordered_json NamedColumns::add_to(Sections& sections) const {
    nlohmann::ordered_json lists;
    for (std::size_t c = 0; c < columns_.size(); ++c) lists[columns_[c].list][columns_[c].name] = sections.add_compressed(compressed_[c]);
    return lists;
}

} // namespace libprofile::tools
