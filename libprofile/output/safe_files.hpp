// Opens our files where other users may write, too: files and links that they have made are neither followed nor changed.
// Contract: outside handlers; system calls only, allocates nothing. A negative result is -error; errors are errno's or those below.
#pragma once

#include <fcntl.h>

namespace libprofile {

/// Errors in addition to errno's numbers.
enum UnsafePath : int { ForeignFolder = 10001, OpenFolder, ForeignFile };

/// Describes an error for a message.
const char* what_failed(int error) noexcept;

/// Checks whether our files may lie in an existing folder. They may not if it, or the link that leads to it, belongs to another user, or if
/// all users may write there. Returns 0 or the reason.
int check_folder(const char* path) noexcept;

/// Creates a new file and returns its descriptor.
int open_new(const char* path) noexcept;

/// Opens a file of ours: a regular file that no other user has made and that has no other name. Returns its descriptor.
/// @param access O_WRONLY or O_RDWR, with O_CREAT if it may be missing; O_RDONLY
int open_own(const char* path, int access) noexcept;

} // namespace libprofile
