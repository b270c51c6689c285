/* SPDX-License-Identifier: MIT */
#include "identify.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

/* What starts with which bytes. */
static const struct {
	const char *bytes;
	uint8_t n;
	const char *what;
} magics[] = {
#define MAGIC(bytes, what) { bytes, sizeof bytes - 1, what }
	MAGIC("FUGG", "a GGUF file written with its magic in the wrong byte order"),
	MAGIC("lmgg", "a model in the old GGML format without version, which only llama.cpp before 2023 reads"),
	MAGIC("fmgg", "a model in the old GGMF format, which only llama.cpp before 2023-08 reads"),
	MAGIC("tjgg", "a model in the old GGJT format, which only llama.cpp before 2023-08 reads"),
	MAGIC("algg", "a LoRA adapter in the old GGLA format"),
	MAGIC("version https://git-lfs", "a Git LFS pointer: fetch the model itself with git lfs pull"),
	MAGIC("oid sha256:", "a Git LFS pointer: fetch the model itself with git lfs pull"),
	MAGIC("PK\3\4", "a zip archive, as PyTorch's checkpoints are"),
	MAGIC("\x80\2", "a Python pickle, as PyTorch's old checkpoints are"),
	MAGIC("\x80\3", "a Python pickle"),
	MAGIC("\x80\4", "a Python pickle"),
	MAGIC("\x80\5", "a Python pickle"),
	MAGIC("\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras writes it"),
	MAGIC("\x93NUMPY", "a NumPy array"),
	MAGIC("\x1f\x8b", "compressed with gzip"),
	MAGIC("\x28\xb5\x2f\xfd", "compressed with zstd"),
	MAGIC("\xfd" "7zXZ", "compressed with xz"),
	MAGIC("BZh", "compressed with bzip2"),
	MAGIC("7z\xbc\xaf", "a 7-Zip archive"),
	MAGIC("Rar!", "a RAR archive"),
	MAGIC("\177ELF", "a program or library for Linux"),
	MAGIC("MZ", "a program for Windows"),
	MAGIC("%PDF", "a PDF document"),
	MAGIC("#!", "a script"),
#undef MAGIC
};

static const char *skip_space(const char *p, const char *end)
{
	if (end - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		p += 3;
	while (p < end && isspace((unsigned char)*p))
		p++;
	return p;
}

static bool starts(const char *p, const char *end, const char *with)
{
	return (size_t)(end - p) >= strlen(with) && !strncasecmp(p, with, strlen(with));
}

static bool is_safetensors(const uint8_t *p, size_t n, uint64_t size)
{
	uint64_t header = 0;

	if (n < 9 || (p[8] != '{' && p[8] != ' '))
		return false;
	for (int i = 7; i >= 0; i--)
		header = header << 8 | p[i];
	return header >= 2 && header <= size - 8;
}

/* A protocol buffer that starts with the fields of ONNX's ModelProto: ir_version, then producer or graph. */
static bool is_onnx(const uint8_t *p, size_t n)
{
	return n > 4 && p[0] == 0x08 && p[1] < 0x20 && (p[2] == 0x12 || p[2] == 0x3a || p[2] == 0x42);
}

static bool is_text(const uint8_t *p, size_t n)
{
	if (n > 512)
		n = 512;
	for (size_t i = 0; i < n; i++)
		if (p[i] < 0x20 && !isspace(p[i]))
			return false;
	return true;
}

static bool is_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

static const char *identify_text(const char *p, const char *end)
{
	p = skip_space(p, end);
	if (starts(p, end, "<!doctype html") || starts(p, end, "<html") || starts(p, end, "<head"))
		return "an HTML page: the download fetched a web page, not the model";
	if (starts(p, end, "<?xml") || starts(p, end, "<error"))
		return "an XML document, as servers send errors";
	if (starts(p, end, "{") || starts(p, end, "["))
		return "a JSON document";
	if (starts(p, end, "Entry not found") || starts(p, end, "Invalid username") ||
	    starts(p, end, "Repository not found"))
		return "a server's error message";
	return "a text";
}

const char *gguf_identify(const void *head, size_t n, uint64_t size)
{
	const uint8_t *p = head;

	if (!size)
		return "an empty file";
	for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
		if (n >= magics[i].n && !memcmp(p, magics[i].bytes, magics[i].n))
			return magics[i].what;
	if (n >= 4 && !memcmp(p, "GGUF", 4))
		return "the first bytes of one";
	if (size < 8)
		return "a file of less than 8 bytes";
	if (is_safetensors(p, n, size))
		return "a safetensors file";
	if (is_onnx(p, n))
		return "an ONNX model";
	if (n > 4 && is_zero(p, n))
		return "a file that starts with zeros, as an unfinished download does";
	return is_text(p, n) ? identify_text(head, (const char *)head + n) : "something unknown";
}

static bool digits_then(const char **p, const char *word)
{
	const char *s = *p;

	while (isdigit((unsigned char)*s))
		s++;
	if (s == *p || strncasecmp(s, word, strlen(word)))
		return false;
	*p = s + strlen(word);
	return true;
}

bool gguf_is_piece(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (const char *p = name; *p; p++) {
		const char *s = p;

		if (!strncasecmp(p, "part", 4) && (s += 4, s += *s == '-' || *s == '_', digits_then(&s, "of")) &&
		    isdigit((unsigned char)*s))
			return true;
		if (!strncasecmp(p, "-split-", 7) && isalpha((unsigned char)p[7]) && strlen(p) <= 9)
			return true;
	}
	return false;
}
