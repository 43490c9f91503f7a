// The contexts of samples: call sites, and the loops between them. What a node of a temporal context tree refers to.
// Contract: of_sample() and inside() add contexts and are for one thread; all const functions are thread-safe. Allocates in proportion to the call
// paths asked for; throws std::bad_alloc only.
//
// Source: Wei and Mellor-Crummey (ICS 2018), section 3.1.
// Decisions: a call path of the profile ends in the instruction that a sample hit, which is no context of its own; but the loops around it are.
// Functions that were inlined are no contexts: machine code knows one function. A call to MPI or OpenMP takes the place of its call site.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/timeseries/loop_source.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace libprofile::tools {

using ContextId = std::uint32_t;

enum class ContextKind : std::uint8_t {
    Root,  // the thread
    Call,  // of a function
    Loop,  // of the machine code
    Known, // the loop of a phase whose iterations the profile knows
};

struct Context {
    ContextId parent = 0; // smaller than its own id
    ContextKind kind = ContextKind::Root;
    std::uint32_t level = 0;    // contexts around it
    std::uint32_t needs = 0;    // it goes on from one sample to the next only if so many activations do
    std::uint32_t path = 0;     // call path of the profile: of the call; of loops, of the first call or instruction seen inside
    std::uint64_t loop = 0;     // of loops: offset of the header, 0 if unknown
    std::uint64_t phase = 0;    // Known: which
    std::uint32_t sibling = 0;  // position among the children of its parent
    std::uint32_t children = 0; // how many there are
    bool has_place = false;     // it is machine code:
    CodePlace place;            // its call site; of loops, that of `path`
};

class Contexts {
  public:
    /// @param loops may be null: then there are no loops. Both are used as long as of_sample() is called.
    Contexts(const Profile& profile, const LoopSource* loops);

    /// The innermost context of a sample on this call path.
    ContextId of_sample(std::uint32_t path);
    /// The same for a path that was asked for before.
    ContextId seen(std::uint32_t path) const;
    const Profile& profile() const { return *profile_; }
    /// Whether the outer end of the call path is not known.
    bool is_partial(std::uint32_t path) const { return partial_[path]; }
    /// The context as it is inside a known loop that takes the place of the loop `replaced`, or stands below the call `replaced`. Contexts that
    /// do not lie there stay what they are.
    ContextId inside(ContextId context, ContextId replaced, std::uint64_t phase);

    const Context& operator[](ContextId id) const { return contexts_[id]; }
    std::size_t size() const { return contexts_.size(); }
    /// The context around `id` (or itself) that lies at `level`, which is not deeper.
    ContextId at_level(ContextId id, std::uint32_t level) const {
        while (contexts_[id].level > level) id = contexts_[id].parent;
        return id;
    }
    /// The innermost context that two samples share if `common` activations go on from one to the other. Where both lie in a loop of an activation
    /// that goes on, the loop was not left: that is certain for the outermost loop of a function, and assumed for those inside it.
    ContextId common(ContextId one, ContextId other, std::uint32_t activations) const;

  private:
    static constexpr ContextId unknown = 0xffffffff;
    struct Key {
        ContextId parent;
        ContextKind kind;
        std::uint64_t value;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& k) const noexcept {
            return (k.parent * 0x9e3779b97f4a7c15u ^ k.value * 0xc2b2ae3d27d4eb4fu) + static_cast<std::size_t>(k.kind);
        }
    };

    std::uint32_t frame_of(std::uint32_t path) const;
    std::uint32_t depth_of(std::uint32_t path) const;
    ContextId child(ContextId parent, ContextKind kind, std::uint64_t value, std::uint32_t needs, std::uint32_t path, std::uint64_t header);
    ContextId around(std::uint32_t path);
    ContextId of_call(std::uint32_t path);

    const Profile* profile_;
    const LoopSource* loops_;
    std::vector<Context> contexts_{1};
    std::unordered_map<Key, ContextId, KeyHash> known_;
    std::vector<ContextId> around_, calls_; // by call path
    std::vector<bool> partial_;             // by call path
};

} // namespace libprofile::tools
