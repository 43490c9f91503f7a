// What the analysis of time series asks of the machine code: which loops lie around an instruction, and in which order code may run.
// Contract: an interface. Both functions are called from many threads at once, often with the same question, and must always give the same
// answer. Offsets are ELF virtual addresses, as in Site; modules are indices into Profile::modules.
//
// Source: the control flow graphs of Wei and Mellor-Crummey (ICS 2018), sections 3.1 and 3.2.
#pragma once

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// An instruction: a call, or one that a sample hit.
struct CodePlace {
    std::uint32_t module = 0;
    std::uint64_t offset = 0;
};

enum class Reach : std::uint8_t { Unknown, No, Yes };

class LoopSource {
  public:
    virtual ~LoopSource() = default;

    /// The loops of its function that the instruction lies in, outermost first, each known by the offset of its header. Loops of inlined functions are
    /// loops of the function they are inlined into. Empty: there are none, or nothing is known.
    virtual std::vector<std::uint64_t> loops_around(CodePlace at) const = 0;

    /// Whether `to` may run after `from` in one pass: no back edge to the header of `loop` is taken, but those of loops inside it may be. Both lie in
    /// the same function, and inside `loop`. `loop` 0: in one activation of the function, where all back edges may be taken.
    virtual Reach reaches(std::uint64_t loop, CodePlace from, CodePlace to) const = 0;
};

} // namespace libprofile::tools
