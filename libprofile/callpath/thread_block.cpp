#include "libprofile/callpath/thread_block.hpp"

namespace libprofile {

constinit thread_local ThreadLocal thread_local_block __attribute__((tls_model("initial-exec"))){};

} // namespace libprofile
