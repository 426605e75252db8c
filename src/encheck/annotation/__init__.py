"""Blind reading by people: sheets, judgements and agreement."""
