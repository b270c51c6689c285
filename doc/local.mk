EXTRA_DIST += %D%/design.md %D%/adding.md
EXTRA_DIST += %D%/tree.md
dist_man_MANS += %D%/mount.gguf.8
dist_man_MANS += %D%/gguf-run.1 %D%/gguf-perplexity.1
EXTRA_DIST += %D%/chat.md %D%/performance.md
dist_man_MANS += %D%/gguf-embed.1 %D%/gguf-bench.1
