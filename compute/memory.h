/* SPDX-License-Identifier: MIT */
#ifndef MEMORY_H
#define MEMORY_H
#include "engine.h"

/* What m takes: its model, options and cache types are set. */
void memory_measure(struct llm *m, struct llm_estimate *est);
/* Cache and buffers. -ENOMEM with the estimate. What was made before a failure is for memory_free. */
int memory_new(struct llm *m, struct gguf_error *e);
void memory_free(struct llm *m);
#endif
