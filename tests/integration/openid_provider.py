"""A small OpenID provider on 127.0.0.1: discovery, code flow with PKCE, signed ID tokens, user data."""

import base64
import hashlib
import json
import threading
import time
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "dure", "a secret of the client"


@cache
def a_key(_name: str) -> RSAKey:
    """The same key for the same name, since making one takes long."""
    return RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})


class Provider:
    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self.key = a_key("the provider's")
        self.claims = {"sub": "1234", "email": "alice@example.com", "email_verified": True}
        # What the user's data has beyond the ID token.
        self.user_data: dict[str, object] = {}
        self.discovery: dict[str, object] = {}
        # Changes of the ID token that make it wrong.
        self.forged: dict[str, object] = {}
        self.signing_key = self.key
        self.codes: dict[str, dict[str, str]] = {}
        self.requests: list[str] = []

    def document(self) -> dict[str, object]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/me",
            "end_session_endpoint": f"{self.issuer}/leave",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            **self.discovery,
        }

    def authorize(self, address: str) -> str:
        """What a browser gets whose user agrees: the address of the callback."""
        parts = urlsplit(address)
        assert f"{parts.scheme}://{parts.netloc}" == self.issuer
        query = dict(parse_qsl(parts.query))
        assert query["client_id"] == CLIENT
        assert query["response_type"] == "code"
        assert query["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}"
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str], credentials: str) -> dict[str, object] | None:
        requested = self.codes.pop(form.get("code", ""), None)
        if (
            requested is None
            or base64.b64decode(credentials.removeprefix("Basic ")).decode() != f"{CLIENT}:{SECRET}"
        ):
            return None
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        if base64.urlsafe_b64encode(digest).decode().rstrip("=") != requested["code_challenge"]:
            return None
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 600,
            "nonce": requested["nonce"],
        }
        claims |= self.claims | self.forged
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.signing_key)
        return {"access_token": "opaque", "token_type": "Bearer", "expires_in": 600, "id_token": signed}


@contextmanager
def running_provider():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.requests.append(self.path)
            answers = {
                "/.well-known/openid-configuration": provider.document,
                "/keys": lambda: {"keys": [provider.key.as_dict(private=False)]},
                "/me": lambda: {"sub": provider.claims["sub"], **provider.user_data},
            }
            self._answer(answers[self.path]() if self.path in answers else None)

        def do_POST(self) -> None:
            provider.requests.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            self._answer(provider.token(form, self.headers.get("Authorization", "")))

        def _answer(self, document) -> None:
            body = json.dumps(document or {"error": "invalid_grant"}).encode()
            self.send_response(200 if document else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
