#include "libprofile/code/patch.hpp"

namespace libprofile {

const char* words(PatchProblem problem) noexcept {
    switch (problem) {
    case PatchProblem::None: return "";
    case PatchProblem::NotSupported: return "this processor is not supported";
    case PatchProblem::NoFunction: return "there is no function there, according to the unwind information";
    case PatchProblem::NotAnEntry: return "it is neither the first instruction of a function nor a call in one";
    case PatchProblem::UnknownCode: return "its code has instructions that are not understood";
    case PatchProblem::JumpTarget: return "a loop jumps back to its first instructions";
    case PatchProblem::CallFirst: return "it begins with a call that cannot be followed";
    case PatchProblem::TooShort: return "it is too short";
    case PatchProblem::IndirectCall: return "that call goes through a pointer; name the function that is called";
    case PatchProblem::NoMemory: return "there is no memory near its code";
    case PatchProblem::Protected: return "this system does not let code be changed while it runs";
    case PatchProblem::TooMany: return "it has too many copies";
    }
    return "";
}

} // namespace libprofile
