"""The nouns and the codec. No I/O. Import from the modules: this package loads nothing by itself."""
