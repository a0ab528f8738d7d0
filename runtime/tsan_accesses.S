# Accesses of code compiled with -fsanitize=thread: __tsan_read8(address) and kin. As in code of the compiler
# plug-in, what was checked already in the thread's present stretch returns at once; all else goes on in
# access.cpp, which finds the return address into the program where it expects it.

    .macro begin name
    .globl  \name
    .type   \name, @function
\name:
    .cfi_startproc
    .endm
    .macro end name
    .cfi_endproc
    .size   \name, .-\name
    .endm

# The state of the 8 bytes, less the shadow's base (runtime/layout.h); rcx: where the thread's own state is.
    .macro find_state
    movq    heddle_thread_state@gottpoff(%rip), %rcx
    movq    %fs:48(%rcx), %rax
    andq    %rdi, %rax
    addq    %rax, %rax
    .endm

    .macro small kind, size, place, name
    begin   \name
    find_state
    movl    %edi, %edx
    andl    $4, %edx
    addq    %rdx, %rax
    addq    %fs:16(%rcx), %rax
    movl    %fs:(%rcx), %edx
    cmpl    %edx, \place(%rax)
    je      1f
    .ifc \kind, read
    movl    %fs:8(%rcx), %edx
    cmpl    %edx, \place(%rax)
    je      1f
    .endif
    xorl    %esi, %esi
    xorl    %edx, %edx
    jmp     heddle_\kind\size@PLT
1:  ret
    end     \name
    .endm

    .macro whole kind, place, name
    begin   \name
    find_state
    addq    %fs:16(%rcx), %rax
    movq    %fs:(%rcx), %rdx
    cmpq    %rdx, \place(%rax)
    je      1f
    .ifc \kind, read
    movq    %fs:8(%rcx), %rdx
    cmpq    %rdx, \place(%rax)
    je      1f
    .endif
    xorl    %esi, %esi
    xorl    %edx, %edx
    jmp     heddle_\kind\()8@PLT
1:  ret
    end     \name
    .endm

    .macro range kind, size, name
    begin   \name
    movl    $\size, %esi
    xorl    %edx, %edx
    xorl    %ecx, %ecx
    jmp     heddle_\kind\()_range@PLT
    end     \name
    .endm

    .macro accesses kind, place, name
    small   \kind, 1, \place, __tsan_\name\()1
    small   \kind, 2, \place, __tsan_\name\()2
    small   \kind, 4, \place, __tsan_\name\()4
    whole   \kind, \place, __tsan_\name\()8
    range   \kind, 16, __tsan_\name\()16
    range   \kind, 2, __tsan_unaligned_\name\()2
    range   \kind, 4, __tsan_unaligned_\name\()4
    range   \kind, 8, __tsan_unaligned_\name\()8
    range   \kind, 16, __tsan_unaligned_\name\()16
    .endm

    .text
    accesses read, 0, read
    accesses write, 8, write
    accesses write, 8, read_write
    accesses read, 0, volatile_read
    accesses write, 8, volatile_write
    whole   read, 0, __tsan_vptr_read

# void __tsan_vptr_update(void** place, void* value): only when the object becomes one of another class.
    begin   __tsan_vptr_update
    cmpq    %rsi, (%rdi)
    jne     __tsan_write8@PLT
    ret
    end     __tsan_vptr_update

    begin   __tsan_read_range
    xorl    %edx, %edx
    xorl    %ecx, %ecx
    jmp     heddle_read_range@PLT
    end     __tsan_read_range
    begin   __tsan_write_range
    xorl    %edx, %edx
    xorl    %ecx, %ecx
    jmp     heddle_write_range@PLT
    end     __tsan_write_range
    .section .note.GNU-stack,"",@progbits
