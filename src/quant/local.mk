## One file per tensor type.
