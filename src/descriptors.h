/* SPDX-License-Identifier: MIT */
#ifndef GGUF_DESCRIPTORS_H
#define GGUF_DESCRIPTORS_H
#include <fcntl.h>

/* For the start of main: of descriptors 0 to 2 those that are closed are made unusable, lest a file of ours becomes one. */
static inline void hold_descriptors(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd ? O_RDONLY : O_WRONLY);
}
#endif
