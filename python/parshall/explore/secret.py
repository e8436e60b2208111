"""The secret of a server's address: whoever has it may ask. From the first request on, a cookie holds it.

The name of the cookie has the port in it, for browsers send a cookie to all ports of a host.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping

HOST = "127.0.0.1"
KEY = "token"
"""Of the secret, in the query of the address."""


class Secret:
    """The secret of one server, which is made anew when it starts.

    Parameters
    ----------
    port
        Where the server listens.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self._value = secrets.token_urlsafe(32)
        self._name = f"parshall-{port}"

    @property
    def address(self) -> str:
        """The address that is opened first, which has the secret in it."""
        return f"http://{HOST}:{self.port}/?{KEY}={self._value}"

    @property
    def cookie(self) -> str:
        """The header ``Set-Cookie``: for this server's own pages, and for no script."""
        return f"{self._name}={self._value}; HttpOnly; SameSite=Strict; Path=/"

    def is_in_query(self, query: Mapping[str, str]) -> bool:
        """True if the query of an address has the secret."""
        return self._is(query.get(KEY, ""))

    def is_in_cookies(self, cookies: Mapping[str, str]) -> bool:
        """True if the cookies of a request have the secret."""
        return self._is(cookies.get(self._name, ""))

    def _is(self, text: str) -> bool:
        """True if a text is the secret; the time of the comparison does not depend on the text."""
        return secrets.compare_digest(text.encode(errors="surrogatepass"), self._value.encode())
