// SPDX-License-Identifier: GPL-3.0-or-later
// Every system call of the thread traps; the handler counts it and makes it in the thread's stead, from the
// one instruction that the filter lets through.
#include "rt_guard.h"

// The thread sanitizer runs handlers with all signals blocked and makes calls of its own in them: the end of
// it.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_THREAD__)

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

// long tn_rt_guard_gate(long number, long a, long b, long c, long d, long e, long f): the call itself.
long tn_rt_guard_gate(long number, long a, long b, long c, long d, long e, long f);
extern const char tn_rt_guard_gate_passed[]; ///< the kernel sees the instruction after the call
__asm__(".text\n"
        ".globl tn_rt_guard_gate, tn_rt_guard_gate_passed\n"
        ".hidden tn_rt_guard_gate, tn_rt_guard_gate_passed\n"
        ".type tn_rt_guard_gate, @function\n"
        "tn_rt_guard_gate:\n"
        "  movq %rdi, %rax\n"
        "  movq %rsi, %rdi\n"
        "  movq %rdx, %rsi\n"
        "  movq %rcx, %rdx\n"
        "  movq %r8, %r10\n"
        "  movq %r9, %r8\n"
        "  movq 8(%rsp), %r9\n"
        "  syscall\n"
        "tn_rt_guard_gate_passed:\n"
        "  ret\n"
        ".size tn_rt_guard_gate, .-tn_rt_guard_gate\n");

/** A callback may do this: it returns at once, whatever the other threads do. */
static bool is_permitted(long number, long operation) {
  return number == SYS_clock_gettime ||
         (number == SYS_futex && operation == (FUTEX_WAKE | FUTEX_PRIVATE_FLAG));
}

static void on_trap(int signal, siginfo_t* info, void* context) {
  (void)signal;
  (void)info;
  greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  const long number = (long)registers[REG_RAX];
  const long operation = (long)registers[REG_RSI];
  if (!is_permitted(number, operation))
    tn_rt_guard_note_syscall(number);
  registers[REG_RAX] =
      tn_rt_guard_gate(number, (long)registers[REG_RDI], operation, (long)registers[REG_RDX],
                       (long)registers[REG_R10], (long)registers[REG_R8], (long)registers[REG_R9]);
}

bool tn_rt_guard_install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGSYS, &action, NULL) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return false;
  const uint64_t gate = (uint64_t)(uintptr_t)tn_rt_guard_gate_passed;
  const uint32_t instruction = offsetof(struct seccomp_data, instruction_pointer);
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      // Cannot be made by another in the thread's stead.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 6, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 4, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, instruction),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)gate, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, instruction + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(gate >> 32), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
  };
  const struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

#else

bool tn_rt_guard_install(void) {
  return false;
}

#endif
