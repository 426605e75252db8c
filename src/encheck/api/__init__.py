"""What `from encheck import ...` finds: functions over the whole suite, each in the file of its subject."""
