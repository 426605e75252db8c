"""The command `encheck index`: the audit of stored vectors."""
