"""The public functions, `from encheck import ...`: one file for each subject."""
