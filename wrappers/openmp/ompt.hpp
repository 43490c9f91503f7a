// The tool interface of OpenMP runtimes that have one (LLVM's libomp): they call us, nothing is interposed.
#pragma once

namespace libprofile {

/// A runtime tells of its regions by callbacks. Its entry points of the GNU interface must not be counted as well. One load.
bool ompt_is_active() noexcept;

} // namespace libprofile
