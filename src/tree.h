/* SPDX-License-Identifier: MIT */
/* File names of the mounted tree: what fs/ makes and compute/ reads. doc/tree.md describes them. */
#ifndef GGUF_TREE_H
#define GGUF_TREE_H
#define TREE_README "README"
#define TREE_INFO "info"
#define TREE_METADATA "metadata"
#define TREE_METADATA_JSON "metadata.json"
#define TREE_TENSORS "tensors"
#define TREE_TENSORS_TSV "tensors.tsv"
#define TREE_LAYERS "layers"
#define TREE_TYPES "types.svg"
#define TREE_MODEL "model.gguf"
#define TREE_CHAT_TEMPLATE "chat_template.jinja"
/* in tensors/NAME/ */
#define TREE_TYPE "type"
#define TREE_SHAPE "shape"
#define TREE_RAW "raw"
#define TREE_F32 "f32"
#define TREE_F16 "f16"
#define TREE_BF16 "bf16"
#define TREE_NPY "f32.npy"
#define TREE_STATS "stats"
#define TREE_HEATMAP "heatmap.png"
/*
 * Extended attributes. name: the exact name of a key or tensor. type: a value's, "array[ITEM]" for arrays.
 * location, of a raw whose bytes lie in a file as they are: PATH, TAB, OFFSET, TAB, LENGTH (a path may hold tabs).
 */
#define TREE_XATTR_NAME "user.gguf.name"
#define TREE_XATTR_TYPE "user.gguf.type"
#define TREE_XATTR_LOCATION "user.gguf.location"
#endif
