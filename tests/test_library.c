/* SPDX-License-Identifier: MIT */
/* The library as a program outside sees it: its header, its exported functions, and nothing else. */
#include "ggufs-compute.h"
#include "tap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { ROOM = 64, SOME = 12 };

static int32_t best(const float *logits, size_t n)
{
	size_t at = 0;

	for (size_t i = 1; i < n; i++)
		if (logits[i] > logits[at])
			at = i;
	return (int32_t)at;
}

/* Greedy ids after the n in ids, as text. */
static void go_on(struct ggufs *g, const int32_t *ids, size_t n, char *text)
{
	float *logits = malloc(ggufs_vocab(g) * sizeof(*logits));
	int err = ggufs_feed(g, ids, n, logits, NULL);

	*text = '\0';
	for (int i = 0; i < SOME && !err; i++) {
		int32_t id = best(logits, ggufs_vocab(g));

		text += sprintf(text, "%s%d", i ? " " : "", id);
		err = ggufs_ends(g, id) ? -ENODATA : ggufs_feed(g, &id, 1, logits, NULL);
	}
	free(logits);
}

/* What gguf-run says to the same. False where it cannot be started, as that of another machine. */
static bool ask_program(const char *model, char *text, size_t room)
{
	const char *top = getenv("top_builddir");
	char command[1000];
	int status = 0;
	FILE *f;

	snprintf(command, sizeof(command), "%s/gguf-run '%s' -p 'Mr. Darcy' -n %d --temp 0 --print-ids 2>/dev/null", top ? top : ".",
		 model, SOME);
	f = popen(command, "r");
	if (!f || !fgets(text, (int)room, f))
		*text = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (f)
		status = pclose(f);
	return WIFEXITED(status) && WEXITSTATUS(status) != 126;
}

static void refusals(const char *model)
{
	const struct ggufs_options wrong = { .keys = (enum ggufs_cache)9 };
	struct ggufs *g = NULL;
	struct gguf_error e = { 0 };

	ok(ggufs_open(&g, "/nonexistent", NULL, &e) == -ENOENT && !g && *e.text, "no model: %s", e.text);
	ok(ggufs_open(&g, "/dev/null", NULL, &e) < 0 && !g, "none either: %s", e.text);
	ok(ggufs_open(&g, model, &wrong, &e) == -EINVAL && !g, "a cache that there is not: %s", e.text);
	ggufs_close(NULL);
}

int main(void)
{
	const char *top = getenv("top_srcdir");
	const struct ggufs_options opt = { .context = 64, .threads = 1 };
	char model[600], want[400], got[400], again[400], piece[ROOM];
	int32_t ids[ROOM];
	struct gguf_error e = { 0 };
	struct ggufs *g = NULL;
	float *states;
	size_t n = 0;

	snprintf(model, sizeof(model), "%s/data/austen-2.6m-Q4_K_M.gguf", top ? top : ".");
	refusals(model);
	if (!ok(!ggufs_open(&g, model, &opt, &e), "the model opens %s", e.text))
		done();
	ok(ggufs_vocab(g) == 1024 && ggufs_width(g) == 256 && ggufs_context(g) == 64, "its sizes");
	ok(!ggufs_encode(g, "Mr. Darcy", 9, GGUFS_ADD, ids, ROOM, &n) && n > 1, "a text is some tokens");
	ok(ggufs_encode(g, "Mr. Darcy", 9, GGUFS_ADD, ids, 1, &n) == -ERANGE && n > 1, "which do not fit into one");
	ok(ggufs_piece(g, ids[0], piece, ROOM) == 0 && ggufs_piece(g, ids[1], piece, 1) > 0, "pieces");
	ggufs_encode(g, "Mr. Darcy", 9, GGUFS_ADD, ids, ROOM, &n);
	go_on(g, ids, n, got);
	if (!ask_program(model, want, sizeof(want)))
		skip("what follows is what gguf-run says", "gguf-run cannot be started here");
	else if (!ok(*want && !strcmp(got, want), "what follows is what gguf-run says"))
		printf("# %s\n# %s\n", got, want);
	ok(ggufs_position(g) == n + SOME && ggufs_rewind(g, ROOM) == -ERANGE && !ggufs_rewind(g, 0), "back to the start");
	go_on(g, ids, n, again);
	ok(*got && !strcmp(got, again), "the same again");
	ok(ggufs_feed(g, (const int32_t[]){ 1024 }, 1, NULL, &e) == -EINVAL, "no token: %s", e.text);
	for (size_t i = 0; i < ROOM; i++)
		ids[i] = 5;
	ok(ggufs_feed(g, ids, ROOM, NULL, &e) == -ENOSPC && ggufs_position(g) == n + SOME, "a full context: %s", e.text);
	states = malloc(2 * ggufs_width(g) * sizeof(*states));
	ggufs_rewind(g, 0);
	ok(!ggufs_states(g, ids, 2, states, &e) && states[0] != 0 && states[0] != states[ggufs_width(g)], "states");
	free(states);
	ggufs_close(g);
	done();
}
