r"""A class through a plain `panel serve`.

    panel serve src/residual_stream/app.py \
        --plugins residual_stream.serve.classroom.plugin

It is set by RESIDUAL_STREAM_LESSON, _ROOM, _KEY_FILE, _STATE_FILE, _REDIS and
_CLASS_LIMIT, and prints the addresses of its room without the server's own, which
Panel knows alone.
"""

from residual_stream.serve.classroom.handlers import routes
from residual_stream.serve.classroom.start import Class, open_class
from residual_stream.serve.session import default_publication

_opened = open_class(default_publication(), Class.from_environment())
for _who, _link in zip(("students", "teacher "), _opened.links("/"), strict=True):
    print(f"class, {_who}: the server's address and {_link}", flush=True)

ROUTES = routes(_opened.classroom)
