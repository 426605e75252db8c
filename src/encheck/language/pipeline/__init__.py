"""The bundled English spaCy pipeline, or another one."""
