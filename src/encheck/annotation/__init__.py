"""Blind annotation: sheets, judgements and agreement."""
