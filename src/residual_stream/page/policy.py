"""What a page may run and load: its Content-Security-Policy."""


def content_policy(**allowed: str) -> str:
    """A policy that allows what is named and nothing else.

    allowed:  sources by kind, `script="'self'"` for example.
    """
    sources = (f"{kind}-src {where}" for kind, where in allowed.items())
    return "; ".join(
        ("default-src 'none'", *sources, "base-uri 'none'", "form-action 'none'")
    )


def served_policy(script: str = "'self'", connect: str = "'self'") -> str:
    """The policy of a page that has its files beside it on a web server.

    script:   where its scripts come from.
    connect:  what it may fetch and speak to.
    """
    return content_policy(
        script=script,
        style="'self' 'unsafe-inline'",
        img="'self' data: blob:",
        font="'self' data:",
        connect=connect,
    )
