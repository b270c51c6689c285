/* SPDX-License-Identifier: MIT */
/* From logits to text: feeding, choosing, stopping, and the context's end. */
#define _GNU_SOURCE
#include "clock.h"
#include "error.h"
#include "run.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the context ---- */

static int full(const struct session *s, size_t n, struct gguf_error *e)
{
	return gguf_fail(e, -ENOSPC, 0, "%zu tokens do not fit into the context of %u: -c gives a larger one", s->n_said + n,
			 llm_context(s->llm));
}

/* Makes room for n more tokens by forgetting half of what follows those to keep. */
static int shift(struct session *s, size_t n, struct gguf_error *e)
{
	unsigned keep = s->args->keep < 0 ? (unsigned)s->first : (unsigned)s->args->keep, gone;

	while (s->n_said + n > llm_context(s->llm)) {
		if (keep >= s->n_said)
			keep = 0;
		gone = (unsigned)((s->n_said - keep + 1) / 2);
		if (!gone)
			return full(s, n, e);
		if (llm_shift(s->llm, keep, gone))
			return gguf_fail(e, -ENOTSUP, 0, "this model's context cannot be shifted");
		memmove(s->said + keep, s->said + keep + gone, (s->n_said - keep - gone) * sizeof *s->said);
		s->n_said -= gone;
	}
	return 0;
}

static int make_room(struct session *s, size_t n, struct gguf_error *e)
{
	if (s->n_said + n <= llm_context(s->llm))
		return 0;
	return s->args->shift ? shift(s, n, e) : full(s, n, e);
}

/* ---- feeding ---- */

static int feed_part(struct session *s, const int32_t *ids, size_t n, bool last, struct gguf_error *e)
{
	int err = make_room(s, n, e);

	if (!err)
		err = llm_eval(s->llm, ids, n, last ? s->logits : NULL, false, e);
	if (err)
		return err;
	for (size_t i = 0; i < n; i++)
		sampler_accept(s->sampler, ids[i]);
	memcpy(s->said + s->n_said, ids, n * sizeof *ids);
	s->n_said += n;
	return 0;
}

int session_feed(struct session *s, const int32_t *ids, size_t n, struct gguf_error *e)
{
	size_t part = s->cli->batch;
	int err = 0;

	if (!s->args->shift && s->n_said + n > llm_context(s->llm))
		return full(s, n, e);
	for (size_t i = 0; i < n && !err; i += part) {
		if (interrupted())
			return -EINTR;
		if (part > n - i)
			part = n - i;
		err = feed_part(s, ids + i, part, i + part == n, e);
	}
	return err;
}

int session_continue(struct session *s, const int32_t *ids, size_t n, struct gguf_error *e)
{
	size_t same = 0;
	double start = clock_now();
	int err;

	if (!n)
		return gguf_fail(e, -EINVAL, 0, "an empty prompt");
	while (same + 1 < n && same < s->n_said && s->said[same] == ids[same])
		same++;
	err = llm_rewind(s->llm, (unsigned)same);
	if (err)
		return gguf_fail(e, err, 0, "cannot go back to position %zu", same);
	s->n_said = same;
	sampler_forget(s->sampler);
	for (size_t i = 0; i < same; i++)
		sampler_accept(s->sampler, ids[i]);
	err = session_feed(s, ids + same, n - same, e);
	s->first = s->first ? s->first : n;
	s->prompt.tokens += n - same;
	s->prompt.steps += n - same;
	s->prompt.seconds += clock_now() - start;
	return err;
}

/* ---- generating ---- */

/* Whether a stop string ends in what was added since from. */
static bool stopped(const struct session *s, size_t from)
{
	const struct output *o = &s->out;

	for (size_t i = 0; i < s->args->stops; i++) {
		size_t n = strlen(s->args->stop[i]);
		size_t start = from > n ? from - n : 0;

		if (n && memmem(o->text + start, o->n - start, s->args->stop[i], n))
			return true;
	}
	return false;
}

/* Whether the vocabulary puts a space before a text, so that the first one back is not part of it. */
static bool adds_space(const struct vocab *v)
{
	struct tokens t = { 0 };
	struct gguf_bytes piece = { "", 0 };

	if (!vocab_encode(v, "a", 1, 0, &t) && t.n)
		piece = vocab_piece(v, t.id[0], false);
	free(t.id);
	return piece.n && piece.p[0] == ' ';
}

static bool follows_bos_only(const struct session *s)
{
	return s->n_said == 1 && s->said[0] == vocab_bos(s->vocab) && adds_space(s->vocab);
}

/* Says a token. Returns END_COUNT to go on. */
static enum ending say(struct session *s, int32_t id, bool first, struct gguf_error *e)
{
	size_t from = s->out.n;
	struct gguf_bytes piece;

	if (s->args->print_ids) {
		printf("%s%d", first ? "" : " ", id);
		fflush(stdout);
	}
	if (!s->vocab)
		return END_COUNT;
	piece = vocab_piece(s->vocab, id, s->args->special);
	if (first && piece.n && piece.p[0] == ' ' && follows_bos_only(s)) {
		piece.p++;
		piece.n--;
	}
	if (output_put(&s->out, piece.p, piece.n)) {
		gguf_fail(e, -ENOMEM, 0, "out of memory");
		return END_ERROR;
	}
	if (ferror(stdout)) {
		gguf_fail(e, -EIO, 0, "standard output: %s", strerror(errno));
		return END_ERROR;
	}
	return stopped(s, from) ? END_STOP : END_COUNT;
}

static bool ends(const struct session *s, int32_t id)
{
	return s->vocab && vocab_is_eog(s->vocab, id);
}

static enum ending generate(struct session *s, struct gguf_error *e)
{
	enum ending end;

	for (int n = 0; s->args->predict < 0 || n < s->args->predict; n++) {
		int32_t id = sampler_pick(s->sampler, s->logits);
		int err;

		if (n == 0)
			cli_phase(s->cli, "first token");
		if (ends(s, id))
			return END_MODEL;
		s->generated.tokens++;
		end = say(s, id, n == 0, e);
		if (end != END_COUNT)
			return end;
		if (interrupted())
			return END_USER;
		if (s->args->predict >= 0 && n + 1 == s->args->predict)
			return END_COUNT;
		err = session_feed(s, &id, 1, e);
		if (err)
			return err == -ENOSPC ? END_CONTEXT : err == -EINTR ? END_USER : END_ERROR;
		s->generated.steps++;
	}
	return END_COUNT;
}

enum ending session_generate(struct session *s, struct gguf_error *e)
{
	double start = clock_now();
	enum ending end = generate(s, e);

	output_end(&s->out);
	s->generated.seconds += clock_now() - start;
	return end;
}

void session_begin_turn(struct session *s)
{
	memset(&s->prompt, 0, sizeof s->prompt);
	memset(&s->generated, 0, sizeof s->generated);
}

static void print_speed(const char *what, size_t tokens, size_t steps, double seconds)
{
	fprintf(stderr, "%s: %zu token%s", what, tokens, tokens == 1 ? "" : "s");
	if (steps && seconds > 0)
		fprintf(stderr, ", %.1f tokens/s", (double)steps / seconds);
}

/* The first token comes of the prompt, so that its time is not one of generating. */
void session_print_speed(const struct session *s)
{
	if (!s->args->speed)
		return;
	print_speed("prompt", s->prompt.tokens, s->prompt.steps, s->prompt.seconds);
	print_speed("; generated", s->generated.tokens, s->generated.steps, s->generated.seconds);
	fputc('\n', stderr);
}
