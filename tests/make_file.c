/* SPDX-License-Identifier: MIT */
/*
 * make_file SCRIPT...: the bytes that build() makes of the scripts, on standard output.
 * make_file --patch MODEL NAME: the model with the patch of that name.
 */
#include "build.h"
#include "patches.h"
#include <stdio.h>
#include <string.h>

static int put_patched(struct build *b, const char *path, const char *name)
{
	struct gguf *g = NULL;

	if (gguf_open(&g, path, NULL))
		return 1;
	for (size_t i = 0; i < patch_count; i++)
		if (!strcmp(patches[i].name, name))
			patch_model(b, g, &patches[i]);
	gguf_close(g);
	return !b->n;
}

int main(int argc, char **argv)
{
	struct build b = { 0 };

	if (argc == 4 && !strcmp(argv[1], "--patch")) {
		if (put_patched(&b, argv[2], argv[3]))
			return 1;
	} else {
		for (int i = 1; i < argc; i++)
			build(&b, argv[i]);
	}
	if (fwrite(b.p, 1, b.n, stdout) != b.n || fflush(stdout))
		return 1;
	build_free(&b);
	return 0;
}
