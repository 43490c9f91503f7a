// Texts that occur many times, each kept once and known by its number.
// Contract: copies share their memory until one of them gets another text; each is not thread-safe while it does; allocates; throws
// std::bad_alloc, and std::length_error beyond 2^32 texts.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

namespace libprofile::tools {

class TextPool {
  public:
    /// The number of a text, which is added if it is new. 0 is the empty one.
    std::uint32_t number(std::string_view text) {
        if (const auto known = data_->numbers.find(text); known != data_->numbers.end()) return known->second;
        if (data_->texts.size() >= std::numeric_limits<std::uint32_t>::max()) throw std::length_error("too many names");
        if (data_.use_count() > 1) data_ = std::make_shared<Data>(*data_);
        return data_->add(text);
    }
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    /// The number of a text that may be there, or `none`.
    std::uint32_t find(std::string_view text) const {
        const auto known = data_->numbers.find(text);
        return known == data_->numbers.end() ? none : known->second;
    }
    const std::string& operator[](std::uint32_t number) const { return data_->texts[number]; }
    std::size_t size() const { return data_->texts.size(); }
    auto begin() const { return data_->texts.cbegin(); }
    auto end() const { return data_->texts.cend(); }

  private:
    struct Data {
        std::deque<std::string> texts; // do not move: the keys look into them
        std::unordered_map<std::string_view, std::uint32_t> numbers;

        Data() { add(""); }
        Data(const Data& other) {
            for (const std::string& text : other.texts) add(text);
        }
        std::uint32_t add(std::string_view text) {
            const auto added = static_cast<std::uint32_t>(texts.size());
            numbers.emplace(texts.emplace_back(text), added);
            return added;
        }
    };
    std::shared_ptr<Data> data_ = std::make_shared<Data>();
};

} // namespace libprofile::tools
