#include "tools/structure/edit_script.hpp"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace libprofile::tools {

namespace {

using Sequence = std::span<const std::uint64_t>;

/// The run of equal elements in the middle of a shortest path: from (x, y) to (u, v).
struct Snake {
    std::ptrdiff_t x = 0, y = 0, u = 0, v = 0;
};

class Differ {
  public:
    Differ(Sequence a, Sequence b, std::size_t most_edits)
        : a_(a), b_(b), most_steps_(static_cast<std::ptrdiff_t>(std::min(most_edits, a.size() + b.size()) / 2 + 1)),
          zero_(static_cast<std::ptrdiff_t>(b.size()) + 1), forward_(a.size() + b.size() + 3), backward_(forward_.size()), is_kept_a_(a.size()),
          is_kept_b_(b.size()) {}

    /// False: there are too many differences.
    bool compare() { return compare(0, a_.size(), 0, b_.size()); }
    const std::vector<bool>& kept_a() const { return is_kept_a_; }
    const std::vector<bool>& kept_b() const { return is_kept_b_; }

  private:
    void keep(std::size_t i, std::size_t j, std::size_t length) {
        for (std::size_t k = 0; k < length; ++k) is_kept_a_[i + k] = is_kept_b_[j + k] = true;
    }

    bool compare(std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end) {
        while (a != a_end && b != b_end && a_[a] == b_[b]) keep(a++, b++, 1);
        while (a != a_end && b != b_end && a_[a_end - 1] == b_[b_end - 1]) keep(--a_end, --b_end, 1);
        if (a == a_end || b == b_end) return true;
        const std::optional<Snake> middle = middle_snake(a_.subspan(a, a_end - a), b_.subspan(b, b_end - b));
        if (!middle) return false;
        const auto x = static_cast<std::size_t>(middle->x), y = static_cast<std::size_t>(middle->y), u = static_cast<std::size_t>(middle->u),
                   v = static_cast<std::size_t>(middle->v);
        keep(a + x, b + y, u - x);
        return compare(a, a + x, b, b + y) && compare(a + u, a_end, b + v, b_end);
    }

    /// Paths from both ends, a difference longer in each step, until two of them meet. A diagonal k has x - y = k.
    std::optional<Snake> middle_snake(Sequence a, Sequence b) {
        const auto n = static_cast<std::ptrdiff_t>(a.size()), m = static_cast<std::ptrdiff_t>(b.size()), delta = n - m;
        const bool is_odd = delta % 2 != 0;
        at(forward_, 1) = at(backward_, 1) = 0;
        for (std::ptrdiff_t d = 0; d <= most_steps_; ++d) {
            const std::ptrdiff_t lowest = -d + 2 * std::max<std::ptrdiff_t>(0, d - m), highest = d - 2 * std::max<std::ptrdiff_t>(0, d - n);
            for (std::ptrdiff_t k = lowest; k <= highest; k += 2) {
                const std::ptrdiff_t begin = start(forward_, k, d);
                std::ptrdiff_t x = begin;
                while (x < n && x - k < m && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)]) ++x;
                at(forward_, k) = x;
                const std::ptrdiff_t other = delta - k;
                if (is_odd && std::abs(other) < d && x + at(backward_, other) >= n) return Snake{begin, begin - k, x, x - k};
            }
            for (std::ptrdiff_t k = lowest; k <= highest; k += 2) {
                const std::ptrdiff_t begin = start(backward_, k, d);
                std::ptrdiff_t x = begin;
                while (x < n && x - k < m && a[static_cast<std::size_t>(n - 1 - x)] == b[static_cast<std::size_t>(m - 1 - x + k)]) ++x;
                at(backward_, k) = x;
                const std::ptrdiff_t other = delta - k;
                if (!is_odd && std::abs(other) <= d && x + at(forward_, other) >= n) return Snake{n - x, m - x + k, n - begin, m - begin + k};
            }
        }
        return std::nullopt;
    }

    /// Where the furthest path with one difference less enters a diagonal.
    std::ptrdiff_t start(std::vector<std::ptrdiff_t>& ends, std::ptrdiff_t k, std::ptrdiff_t d) {
        return k == -d || (k != d && at(ends, k - 1) < at(ends, k + 1)) ? at(ends, k + 1) : at(ends, k - 1) + 1;
    }
    std::ptrdiff_t& at(std::vector<std::ptrdiff_t>& ends, std::ptrdiff_t k) { return ends[static_cast<std::size_t>(zero_ + k)]; }

    Sequence a_, b_;
    std::ptrdiff_t most_steps_, zero_;
    std::vector<std::ptrdiff_t> forward_, backward_; // by diagonal
    std::vector<bool> is_kept_a_, is_kept_b_;
};

/// Moves each gap of a sequence as late as it can stand without changing what is left, together with those that it meets.
void gather_gaps(Sequence elements, std::vector<bool>& is_kept) {
    for (std::size_t first = 0; first < elements.size(); ++first) {
        if (is_kept[first]) continue;
        std::size_t end = first;
        while (end != elements.size() && !is_kept[end]) ++end;
        while (end != elements.size() && elements[first] == elements[end]) {
            is_kept[first++] = true;
            is_kept[end++] = false;
            while (end != elements.size() && !is_kept[end]) ++end;
        }
        first = end;
    }
}

/// Positions of those that the other sequence has, too.
std::vector<std::size_t> common_elements(Sequence elements, Sequence other) {
    const std::unordered_set<std::uint64_t> known(other.begin(), other.end());
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < elements.size(); ++i)
        if (known.contains(elements[i])) positions.push_back(i);
    return positions;
}

std::vector<std::uint64_t> chosen(Sequence elements, const std::vector<std::size_t>& positions) {
    std::vector<std::uint64_t> some;
    for (const std::size_t i : positions) some.push_back(elements[i]);
    return some;
}

/// By number of elements that are kept before it: the length of a gap.
std::map<std::size_t, std::size_t> gaps_of(const std::vector<bool>& is_kept) {
    std::map<std::size_t, std::size_t> gaps;
    std::size_t kept = 0;
    for (const bool is_one_kept : is_kept) {
        if (is_one_kept)
            ++kept;
        else
            ++gaps[kept];
    }
    return gaps;
}

/// Which of several equal elements in a row have no partner is open. Those do that stand where the other sequence has a gap, too: something was
/// replaced there. The others are the last ones.
/// @param gaps of the other sequence
void meet_gaps(Sequence elements, std::vector<bool>& is_kept, std::map<std::size_t, std::size_t> gaps) {
    std::size_t kept = 0;
    for (std::size_t first = 0, end = 0; first < elements.size(); first = end) {
        while (end != elements.size() && elements[end] == elements[first]) ++end;
        std::size_t removed = static_cast<std::size_t>(
            std::count(is_kept.begin() + static_cast<std::ptrdiff_t>(first), is_kept.begin() + static_cast<std::ptrdiff_t>(end), false));
        const std::size_t last = kept + (end - first) - removed;
        std::size_t at = first;
        for (auto gap = gaps.lower_bound(kept); removed != 0 && gap != gaps.end() && gap->first <= last; ++gap) {
            for (; kept != gap->first; ++kept) is_kept[at++] = true;
            for (; removed != 0 && gap->second != 0; --removed, --gap->second) is_kept[at++] = false;
        }
        for (; kept != last; ++kept) is_kept[at++] = true;
        for (; at != end; ++at) is_kept[at] = false;
    }
}

} // namespace

std::optional<std::vector<std::uint32_t>> partners_of(Sequence a, Sequence b, std::size_t most_edits) {
    // What the other sequence has nowhere has no partner.
    const std::vector<std::size_t> in_a = common_elements(a, b), in_b = common_elements(b, a);
    const std::size_t alone = a.size() - in_a.size() + b.size() - in_b.size();
    if (alone > most_edits) return std::nullopt;
    const std::vector<std::uint64_t> some_a = chosen(a, in_a), some_b = chosen(b, in_b);
    Differ differ(some_a, some_b, most_edits - alone);
    if (!differ.compare()) return std::nullopt;
    std::vector<bool> kept_a(a.size()), kept_b(b.size());
    for (std::size_t i = 0; i < in_a.size(); ++i) kept_a[in_a[i]] = differ.kept_a()[i];
    for (std::size_t j = 0; j < in_b.size(); ++j) kept_b[in_b[j]] = differ.kept_b()[j];
    gather_gaps(a, kept_a);
    gather_gaps(b, kept_b);
    meet_gaps(a, kept_a, gaps_of(kept_b));
    meet_gaps(b, kept_b, gaps_of(kept_a));
    std::vector<std::uint32_t> partners(a.size(), no_partner);
    std::size_t edits = 0;
    for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
        if (i < a.size() && !kept_a[i]) {
            ++i, ++edits;
        } else if (j < b.size() && !kept_b[j]) {
            ++j, ++edits;
        } else {
            partners[i++] = static_cast<std::uint32_t>(j++);
        }
    }
    if (edits > most_edits) return std::nullopt;
    return partners;
}

void pair_in_gaps(std::vector<std::uint32_t>& partners, std::size_t m) {
    for (std::size_t i = 0, j = 0; i < partners.size();) {
        std::size_t end = i;
        while (end < partners.size() && partners[end] == no_partner) ++end;
        const std::size_t last = end < partners.size() ? partners[end] : m;
        for (; i < end && j < last; ++i, ++j) partners[i] = static_cast<std::uint32_t>(j);
        i = end + 1;
        j = last + 1;
    }
}

std::vector<std::uint32_t> partners_of_long(Sequence a, Sequence b) {
    constexpr std::size_t most_edits = 8192, window = 512, largest_window = 2048;
    if (auto partners = partners_of(a, b, most_edits)) return *std::move(partners);
    std::vector<std::uint32_t> partners(a.size(), no_partner);
    std::size_t from_a = 0, from_b = 0, width = window;
    while (from_a != a.size() && from_b != b.size()) {
        const Sequence in_a = a.subspan(from_a, std::min(width, a.size() - from_a)), in_b = b.subspan(from_b, std::min(width, b.size() - from_b));
        const bool is_last = from_a + in_a.size() == a.size() && from_b + in_b.size() == b.size();
        const std::size_t sure = is_last ? width : width / 4 * 3; // what pairs behind that may have better partners behind the window
        const std::vector<std::uint32_t> found = *partners_of(in_a, in_b);
        std::size_t end_a = 0, end_b = 0;
        for (std::size_t i = 0; i < found.size() && i < sure; ++i) {
            if (found[i] == no_partner) continue;
            if (found[i] >= sure) break;
            partners[from_a + i] = static_cast<std::uint32_t>(from_b + found[i]);
            end_a = i + 1;
            end_b = found[i] + 1;
        }
        if (is_last) break;
        if (end_a == 0 && width < largest_window) {
            width *= 2;
            continue;
        }
        from_a += end_a != 0 ? end_a : std::min(sure, in_a.size());
        from_b += end_a != 0 ? end_b : std::min(sure, in_b.size());
        width = window;
    }
    return partners;
}

} // namespace libprofile::tools
