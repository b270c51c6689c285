/* SPDX-License-Identifier: MIT */
/* Prints the findings of fsck.gguf, a line each, or as JSON: one object a file. */
#ifndef GGUF_FSCK_REPORT_H
#define GGUF_FSCK_REPORT_H
#include "check.h"
#include <stdio.h>

struct report {
	bool json, quiet, verbose;
	FILE *out; /* of findings; a manifest goes to standard output */
	const char *file;      /* as given, quoted for a terminal; of the findings that come */
	unsigned long count[SEVERITIES]; /* of this file */
	unsigned long left_out;          /* findings beyond the first few hundred */
	bool on_bar;                     /* a progress bar stands on the terminal's line */
	int progress_fd;                 /* progress is told there in lines, for programs; 0: by the bar */
	bool canceled;                   /* the file was not read to its end */
	unsigned files;                  /* that were begun */
};

void report_begin(struct report *r, const char *path);
/* The verdict on the file: what it is, where it was read at all (NULL: it was not). */
void report_end(struct report *r, const struct gguf *g);
/* Tells progress, or draws the bar on standard error; takes the bar away with of == 0. */
void report_progress(void *report, uint64_t done, uint64_t of);
/* The frame around the objects of all files. */
void report_open(struct report *r);
void report_close(struct report *r);

/* ---- manifests ---- */

/* The digests that check_data() made, as lines; what a manifest is, and --check reads. */
void manifest_print(const struct gguf *g, const struct digest *tensors, const struct digest *files);
/*
 * Compares with the manifest at path: what differs, lacks or is too much becomes a finding. -errno when it cannot be
 * read, -EINVAL when it is none.
 */
int manifest_check(struct report *r, const char *path, const struct gguf *g, const struct digest *tensors,
		   const struct digest *files);
#endif
