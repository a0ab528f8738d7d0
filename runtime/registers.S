# void heddle_keep_registers(void (*function)(void*), void* argument)
#
# Calls the function and leaves every register as it was, vector registers included: code that runs in the
# middle of the program's own (access.cpp) promises that to its callers (preserve_all).
    .text
    .globl  heddle_keep_registers
    .hidden heddle_keep_registers
    .type   heddle_keep_registers, @function
heddle_keep_registers:
    .cfi_startproc
    pushq   %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq    %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq   %rax
    pushq   %rcx
    pushq   %rdx
    pushq   %rsi
    pushq   %rdi
    pushq   %r8
    pushq   %r9
    pushq   %r10
    subq    $4096, %rsp           # more than the registers saved below take
    andq    $-64, %rsp
    xorl    %eax, %eax
    movq    %rax, 512(%rsp)       # the header of the area must be zero
    movq    %rax, 520(%rsp)
    movq    %rax, 528(%rsp)
    movq    %rax, 536(%rsp)
    movq    %rax, 544(%rsp)
    movq    %rax, 552(%rsp)
    movq    %rax, 560(%rsp)
    movq    %rax, 568(%rsp)
    movl    $0xE7, %eax           # x87, SSE, AVX, AVX-512
    xorl    %edx, %edx
    xsave64 (%rsp)
    movq    %rdi, %rax
    movq    %rsi, %rdi
    call    *%rax
    movl    $0xE7, %eax
    xorl    %edx, %edx
    xrstor64 (%rsp)
    leaq    -64(%rbp), %rsp
    popq    %r10
    popq    %r9
    popq    %r8
    popq    %rdi
    popq    %rsi
    popq    %rdx
    popq    %rcx
    popq    %rax
    popq    %rbp
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size   heddle_keep_registers, .-heddle_keep_registers
    .section .note.GNU-stack,"",@progbits
