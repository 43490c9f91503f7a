# Links functions of the C library by the versions that glibc 2.28 has, so that what is built with a newer one runs with an older one.
# Many functions got a new version in glibc 2.34 only because they moved from libpthread, libdl and librt into libc; mathematical ones got one in 2.29
# because they no longer set errno through matherr. All old versions are still there.
# The functions below have hidden names of their own in each library or program that contains this file. They jump on, so the caller stays the caller,
# which dlopen and dlsym ask for. They cost what an entry of the procedure linkage table does.

#if defined(__aarch64__)
.macro old name, version=ignored
    .symver libprofile_old_\name, \name@GLIBC_2.17 // the oldest there is
    .globl \name
    .hidden \name
    .type \name, %function
    .balign 16
\name:
    .cfi_startproc
    hint 34 // bti c
    adrp x16, :got:libprofile_old_\name
    ldr x16, [x16, :got_lo12:libprofile_old_\name]
    br x16
    .cfi_endproc
    .size \name, . - \name
.endm
#else
.macro old name, version=GLIBC_2.2.5
    .symver libprofile_old_\name, \name@\version
    .globl \name
    .hidden \name
    .type \name, @function
    .balign 16
\name:
    .cfi_startproc
    endbr64
    jmp *libprofile_old_\name@GOTPCREL(%rip)
    .cfi_endproc
    .size \name, . - \name
.endm
#endif

    .text
    old dladdr
    old dladdr1, GLIBC_2.3.3
    old dlerror
    old dlopen
    old dlsym
    old dlvsym
    old pthread_attr_getstack
    old pthread_attr_getstacksize
    old pthread_attr_setstacksize
    old pthread_detach
    old pthread_getspecific
    old pthread_join
    old pthread_key_create
    old __pthread_key_create
    old pthread_key_delete
    old pthread_kill
    old pthread_mutexattr_init
    old pthread_mutexattr_settype
    old pthread_mutexattr_destroy
    old pthread_mutex_trylock
    old pthread_once
    old pthread_rwlock_destroy
    old pthread_rwlock_init
    old pthread_rwlock_rdlock
    old pthread_rwlock_tryrdlock
    old pthread_rwlock_trywrlock
    old pthread_rwlock_unlock
    old pthread_rwlock_wrlock
    old pthread_setspecific
    old timer_create, GLIBC_2.3.3
    old timer_delete, GLIBC_2.3.3
    old timer_settime, GLIBC_2.3.3


#ifndef LIBPROFILE_RUNTIME // it has its own of the first three, and does without libm
    old dlclose
    old pthread_condattr_setclock, GLIBC_2.3.3
    old pthread_create
    old pthread_sigmask
    old exp
    old exp2
    old hypot
    old log
    old log2
    old pow
#endif

    .section .note.GNU-stack, "", @progbits
