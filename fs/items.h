/* SPDX-License-Identifier: MIT */
#ifndef FS_ITEMS_H
#define FS_ITEMS_H
#include "files.h"

extern const struct items items_keys, items_tensors, items_layers, items_links;
#endif
