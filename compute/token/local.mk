## Tokenizers.
