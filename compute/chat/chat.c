/* SPDX-License-Identifier: MIT */
/* A conversation's template: the model's own, another of its names, one from outside, or one of ours; ChatML at last. */
#include "chat.h"
#include "error.h"
#include "source.h"
#include "token/token.h"
#include "utf8.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY "tokenizer.chat_template"

struct chat {
	struct template *t;
	enum chat_origin origin;
	char *name;
	char why[300];
	json_t *bos, *eos; /* texts */
};

/* A JSON string of n bytes, each that is not UTF-8 being U+FFFD. */
static json_t *json_text(const char *p, size_t n)
{
	json_t *s = json_stringn(p, n);
	size_t k = 0, len;
	char *fixed;

	if (s || n > SIZE_MAX / 4)
		return s;
	fixed = malloc(3 * n + 1);
	for (size_t i = 0; fixed && i < n; i += len) {
		uint32_t c = utf8_get(p + i, n - i, &len);

		k += utf8_put(fixed + k, c >= UTF8_BAD && c <= UTF8_BAD + 0xff ? 0xfffd : c);
	}
	if (fixed)
		s = json_stringn(fixed, k);
	free(fixed);
	return s;
}

static json_t *token_text(const struct vocab *v, int32_t id)
{
	struct gguf_bytes text = { "", 0 };

	if (v && id >= 0)
		text = vocab_text(v, id);
	return json_text(text.p, text.n);
}

/* A chat of that template text; *out is written on success. */
static int chat_new(struct chat **out, const struct vocab *v, struct gguf_bytes text, enum chat_origin origin,
		    const char *name, struct gguf_error *e)
{
	struct chat *c = calloc(1, sizeof *c);
	int err = -ENOMEM;

	if (!c)
		return err;
	c->origin = origin;
	c->name = strdup(name);
	c->bos = token_text(v, v ? vocab_bos(v) : -1);
	c->eos = token_text(v, v ? vocab_eos(v) : -1);
	if (c->name && c->bos && c->eos)
		err = template_parse(&c->t, text.p, text.n, e);
	if (err)
		chat_close(c);
	else
		*out = c;
	return err;
}

static int open_builtin(struct chat **out, const struct vocab *v, const char *name, enum chat_origin origin,
			struct gguf_error *e)
{
	const char *text = chat_builtin_text(name);

	if (!text)
		return -ENOENT;
	return chat_new(out, v, (struct gguf_bytes){ text, strlen(text) }, origin, name, e);
}

/* The model's template of that name, NULL for the default one. -ENOENT without it. */
static int open_model(struct chat **out, struct source *s, const struct vocab *v, const char *name,
		      struct gguf_error *e)
{
	bool unnamed = !name || !strcmp(name, "default");
	struct gguf_bytes text;
	char key[256] = KEY;
	int err = s ? 0 : -ENOENT;

	if (!unnamed && strlen(name) >= sizeof key - sizeof KEY)
		return -ENOENT;
	if (!unnamed)
		strcat(strcat(key, "."), name);
	if (!err)
		err = source_string(s, key, &text, e);
	if (err == -ENOENT && s && unnamed)
		err = source_string(s, KEY ".default", &text, e);
	return err ? err : chat_new(out, v, text, CHAT_MODEL, unnamed ? "default" : name, e);
}

/* ChatML, and in c->why what was wrong with the model's own. */
static int open_fallback(struct chat **out, const struct vocab *v, int why, const struct gguf_error *reason,
			 struct gguf_error *e)
{
	int err = open_builtin(out, v, "chatml", CHAT_FALLBACK, e);

	if (!err && why == -ENOENT)
		strcpy((*out)->why, "the model has no chat template");
	else if (!err)
		stpcpy(stpcpy((*out)->why, "the model's chat template is not usable: "), reason->text);
	return err;
}

/* Says which names there are: the model's, then ours, as far as there is room. */
static int unknown_name(struct source *s, const char *name, struct gguf_error *e)
{
	char list[180] = "";
	const char *other;

	for (size_t i = 0; s && (other = chat_model_template(s, i)); i++)
		if (strlen(list) + strlen(other) + 3 < sizeof list)
			strcat(strcat(list, " "), other);
	for (size_t i = 0; (other = chat_builtin(i)); i++)
		if (strlen(list) + strlen(other) + 3 < sizeof list)
			strcat(strcat(list, " "), other);
	return gguf_fail(e, -ENOENT, 0, "no chat template is called '%.40s'; there are:%s", name, list);
}

int chat_open(struct chat **out, struct source *s, const struct vocab *v, const char *name, struct gguf_error *e)
{
	struct gguf_error reason = { .code = 0 };
	int err = open_model(out, s, v, name, &reason);

	if (!err || err == -ENOMEM)
		return err;
	if (!name)
		return open_fallback(out, v, err, &reason, e);
	if (err != -ENOENT)
		return gguf_fail(e, err, reason.offset, "%s", reason.text);
	err = open_builtin(out, v, name, CHAT_BUILTIN, e);
	return err == -ENOENT ? unknown_name(s, name, e) : err;
}

int chat_open_text(struct chat **out, const struct vocab *v, const char *text, size_t n, struct gguf_error *e)
{
	return chat_new(out, v, (struct gguf_bytes){ text, n }, CHAT_TEXT, "text", e);
}

void chat_close(struct chat *c)
{
	if (!c)
		return;
	template_free(c->t);
	json_decref(c->bos);
	json_decref(c->eos);
	free(c->name);
	free(c);
}

enum chat_origin chat_origin(const struct chat *c)
{
	return c->origin;
}

const char *chat_name(const struct chat *c)
{
	return c->name;
}

const char *chat_why(const struct chat *c)
{
	return c->why;
}

const char *chat_model_template(struct source *s, size_t i)
{
	const char *key;

	for (size_t k = 0; (key = source_key(s, k)); k++) {
		const char *rest = key + strlen(KEY);

		if (strncmp(key, KEY, strlen(KEY)) || (*rest && *rest != '.') || i--)
			continue;
		return *rest ? rest + 1 : "default";
	}
	return NULL;
}

static int set_default(json_t *object, const char *key, json_t *v)
{
	return json_object_get(object, key) ? 0 : json_object_set(object, key, v);
}

int chat_render_case(const struct chat *c, const json_t *object, int64_t now, char **out, size_t *n,
		     struct gguf_error *e)
{
	json_t *context;
	int err = -ENOMEM;

	if (!json_is_object(object))
		return gguf_fail(e, -EINVAL, 0, "a case is a JSON object");
	context = json_copy((json_t *)object); /* which only reads it */
	if (context && !set_default(context, "bos_token", c->bos) && !set_default(context, "eos_token", c->eos))
		err = template_render(c->t, context, now, NULL, out, n, e);
	json_decref(context);
	return err;
}

/* ---- conversations ---- */

/* Content that is head, a blank line and body; head may be NULL. */
static json_t *content_json(const char *head, const char *body)
{
	size_t n = (head ? strlen(head) + 2 : 0) + strlen(body);
	char *text = malloc(n + 1);
	json_t *s;

	if (!text)
		return NULL;
	strcpy(head ? stpcpy(stpcpy(text, head), "\n\n") : text, body);
	s = json_text(text, n);
	free(text);
	return s;
}

static json_t *message_json(const struct chat_message *m, const char *head)
{
	json_t *object = json_object();

	if (object && !json_object_set_new(object, "role", json_text(m->role, strlen(m->role))) &&
	    !json_object_set_new(object, "content", content_json(head, m->content)))
		return object;
	json_decref(object);
	return NULL;
}

/* The messages; merge: the first one goes before the text of the second. */
static json_t *messages_json(const struct chat_request *r, bool merge)
{
	json_t *list = json_array();

	for (size_t i = merge; list && i < r->n; i++) {
		const char *head = merge && i == 1 ? r->messages[0].content : NULL;

		if (json_array_append_new(list, message_json(&r->messages[i], head))) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static int render_request(const struct chat *c, const struct chat_request *r, bool merge, char **out, size_t *n,
			  struct gguf_error *e)
{
	json_t *object = r->kwargs ? json_copy((json_t *)r->kwargs) : json_object();
	int err = -ENOMEM;

	if (object && !json_object_set_new(object, "messages", messages_json(r, merge)) &&
	    !json_object_set_new(object, "add_generation_prompt", json_boolean(r->answer)) &&
	    (!r->tools || !json_object_set(object, "tools", (json_t *)r->tools)))
		err = chat_render_case(c, object, r->now, out, n, e);
	json_decref(object);
	return err;
}

int chat_render(const struct chat *c, const struct chat_request *r, char **out, size_t *n, struct gguf_error *e)
{
	int err = render_request(c, r, false, out, n, e);

	if (err != -EINVAL || r->n < 2 || strcmp(r->messages[0].role, "system") || strcmp(r->messages[1].role, "user"))
		return err;
	return render_request(c, r, true, out, n, NULL) ? err : 0;
}
