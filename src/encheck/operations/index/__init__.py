"""`encheck index`: the audit of stored vectors."""
