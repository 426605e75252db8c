"""Numbers in English text: values and notations."""
