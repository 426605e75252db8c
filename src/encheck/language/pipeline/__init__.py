"""The English spaCy pipeline that comes along, or another one."""
