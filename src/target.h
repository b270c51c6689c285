/* SPDX-License-Identifier: MIT */
/*
 * KERNEL_BEGIN("avx2,fma") .. KERNEL_END: everything between is compiled for that ISA, whatever CFLAGS say.
 * UNROLL before a loop: whole. gcc does it at -O2 only where it is asked for; clang has its own word for it.
 */
#ifndef KERNEL_TARGET_H
#define KERNEL_TARGET_H
#define KERNEL_STR(...) #__VA_ARGS__
#define KERNEL_PRAGMA(...) _Pragma(KERNEL_STR(__VA_ARGS__))
#ifdef __clang__
#define KERNEL_BEGIN(isa) KERNEL_PRAGMA(clang attribute push(__attribute__((target(isa))), apply_to = function))
#define KERNEL_END _Pragma("clang attribute pop")
#define UNROLL KERNEL_PRAGMA(clang loop unroll(full))
#else
#define KERNEL_BEGIN(isa) _Pragma("GCC push_options") KERNEL_PRAGMA(GCC target(isa))
#define KERNEL_END _Pragma("GCC pop_options")
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE static inline __attribute__((always_inline))
#endif
