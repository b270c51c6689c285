## Chat templates.
