// Functions of the C library that read or write memory of the program. Where code compiled with the plug-in
// calls one of them, it calls heddle_libc_NAME instead (pass/libc_calls.cpp), which checks what the function
// reads and writes, and has it done. Calls from all other code stay what they are: what the C library and the
// standard library do among themselves is ordered in ways that nobody tells us.
//
// X(name, type). The type's letters are the result and then the parameters: b, i and l integers of 1, 32 and
// 64 bits, d and f double and float, p a pointer, v nothing, a dot any more. A function of the program's that
// has the name and another type is not meant.
#pragma once

// clang-format off

// In libc_strings.cpp.
#define HEDDLE_LIBC_STRINGS(X) \
  X(strlen, "lp") X(strnlen, "lpl") \
  X(strcmp, "ipp") X(strncmp, "ippl") X(strcasecmp, "ipp") X(strncasecmp, "ippl") X(strcoll, "ipp") \
  X(memcmp, "ippl") X(bcmp, "ippl") X(memchr, "ppil") X(memrchr, "ppil") X(memmem, "pplpl") \
  X(strchr, "ppi") X(strrchr, "ppi") X(strchrnul, "ppi") \
  X(strstr, "ppp") X(strcasestr, "ppp") X(strpbrk, "ppp") X(strspn, "lpp") X(strcspn, "lpp") \
  X(strcpy, "ppp") X(stpcpy, "ppp") X(strncpy, "pppl") X(stpncpy, "pppl") X(strcat, "ppp") X(strncat, "pppl") \
  X(strdup, "pp") X(strndup, "ppl") X(mempcpy, "pppl") \
  X(__memcpy_chk, "pppll") X(__memmove_chk, "pppll") X(__mempcpy_chk, "pppll") X(__memset_chk, "ppill") \
  X(__strcpy_chk, "pppl") X(__stpcpy_chk, "pppl") X(__strncpy_chk, "pppll") X(__strcat_chk, "pppl") \
  X(__strncat_chk, "pppll") \
  X(strtol, "lppi") X(strtoll, "lppi") X(strtoul, "lppi") X(strtoull, "lppi") X(strtod, "dpp") X(strtof, "fpp") \
  X(atoi, "ip") X(atol, "lp") X(atoll, "lp") X(atof, "dp") \
  X(qsort, "vpllp")

// What one thread sends with these another may receive: they order threads. In libc_files.cpp.
#define HEDDLE_LIBC_MESSAGES(X) \
  X(read, "lipl") X(pread, "lipll") X(pread64, "lipll") X(readv, "lipi") X(__read_chk, "lipll") \
  X(write, "lipl") X(pwrite, "lipll") X(pwrite64, "lipll") X(writev, "lipi") \
  X(recv, "lipli") X(recvfrom, "liplipp") X(__recv_chk, "liplli") X(send, "lipli") X(sendto, "liplipi") \
  X(recvmsg, "lipi") X(sendmsg, "lipi")

// In libc_files.cpp.
#define HEDDLE_LIBC_FILES(X) \
  X(fread, "lpllp") X(__fread_chk, "lplllp") X(fwrite, "lpllp") X(fgets, "ppip") X(__fgets_chk, "pplip") \
  X(fputs, "ipp") X(puts, "ip") X(readlink, "lppl") \
  X(stat, "ipp") X(lstat, "ipp") X(fstat, "iip") \
  X(time, "lp") X(clock_gettime, "iip") X(gettimeofday, "ipp") \
  X(gmtime_r, "ppp") X(localtime_r, "ppp") X(mktime, "lp") X(strftime, "lplpp")

// The same without memory that is worth a look. In libc_order.cpp.
#define HEDDLE_LIBC_ORDERING(X) \
  X(epoll_wait, "iipii") X(epoll_pwait, "iipiip") X(poll, "ipli") X(__poll_chk, "iplil") X(ppoll, "iplpp") \
  X(select, "iipppp") X(eventfd_write, "iil") X(eventfd_read, "iip") \
  X(close, "ii") X(shutdown, "iii") X(flock, "iii") X(kill, "iii") X(pthread_kill, "ili") \
  X(sigwait, "ipp") X(sigwaitinfo, "ipp") X(sigtimedwait, "ippp")

// In libc_formats.cpp.
#define HEDDLE_LIBC_FORMATS(X) \
  X(printf, "ip.") X(fprintf, "ipp.") X(dprintf, "iip.") X(sprintf, "ipp.") X(snprintf, "iplp.") \
  X(vprintf, "ipp") X(vfprintf, "ippp") X(vsprintf, "ippp") X(vsnprintf, "iplpp") \
  X(__printf_chk, "iip.") X(__fprintf_chk, "ipip.") X(__sprintf_chk, "ipilp.") X(__snprintf_chk, "iplilp.") \
  X(__vprintf_chk, "iipp") X(__vfprintf_chk, "ipipp") X(__vsprintf_chk, "ipilpp") X(__vsnprintf_chk, "iplilpp")

// In libc_kept.cpp, for code that tells its data flow only: what keeps memory of the program's, and what uses
// that later.
#define HEDDLE_LIBC_KEEPING(X) \
  X(strtok, "ppp") X(getenv, "pp") X(secure_getenv, "pp") X(putenv, "ip") X(setenv, "ippi") X(unsetenv, "ip") \
  X(clearenv, "i") X(setvbuf, "ippil") X(setbuf, "vpp") X(setbuffer, "vppl") \
  X(fputc, "iip") X(putc, "iip") X(putchar, "ii") X(fgetc, "ip") X(getc, "ip") X(getchar, "i") X(ungetc, "iip") \
  X(fflush, "ip") X(fclose, "ip")

// In flow_library.cpp: for code that tells its data flow only. What links the containers of libstdc++ is not in
// its headers.
#define HEDDLE_FOLLOWED_FUNCTIONS(X) \
  X(realloc, "ppl") X(reallocarray, "ppll") X(_ZSt11_Hash_bytesPKvmm, "lpll") \
  X(_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base, "pp") X(_ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base, "pp") \
  X(_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base, "pp") X(_ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base, "pp") \
  X(_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_, "vbppp") \
  X(_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_, "ppp") \
  X(_ZNSt8__detail15_List_node_base7_M_hookEPS0_, "vpp") X(_ZNSt8__detail15_List_node_base9_M_unhookEv, "vp") \
  X(_ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_, "vppp") \
  X(_ZNSt8__detail15_List_node_base10_M_reverseEv, "vp") X(_ZNSt8__detail15_List_node_base4swapERS0_S1_, "vpp")

// clang-format on

#define HEDDLE_FOLLOWED_LIBC(X) \
  HEDDLE_LIBC_KEEPING(X)        \
  HEDDLE_FOLLOWED_FUNCTIONS(X)

#define HEDDLE_LIBC_FUNCTIONS(X) \
  HEDDLE_LIBC_STRINGS(X)         \
  HEDDLE_LIBC_MESSAGES(X)        \
  HEDDLE_LIBC_FILES(X)           \
  HEDDLE_LIBC_ORDERING(X)        \
  HEDDLE_LIBC_FORMATS(X)
