"""The offline engine: no language model, no network. It quotes the best passages and does not reason."""
