"""Git: objects, snapshots, transactions, refs, the remote. Import from the modules: this package loads nothing."""
