## mount.gguf: the tree as data, the bytes of each file, the FUSE callbacks that translate.
