// The bytes of the built viewer: the assembler takes in a file of any size in no time; a literal in C++ would not compile so fast.
    .section .rodata
    .global libprofile_viewer_begin
    .global libprofile_viewer_end
libprofile_viewer_begin:
    .incbin LIBPROFILE_VIEWER_FILE
libprofile_viewer_end:
    .byte 0
    .section .note.GNU-stack, "", @progbits
