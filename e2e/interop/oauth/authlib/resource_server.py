"""A resource server on Authlib: its ResourceProtector over our JWKS.

Reads a JSON object from standard input: issuer, audience, scope, tokens. Writes a list with the claims
of each token, or the error that a request with it ends in.
"""
import json
import sys
from types import SimpleNamespace

import requests
from authlib.jose import JoseError, JsonWebKey, JsonWebToken
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import ResourceProtector
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7523.validator import JWTBearerToken

ALGORITHMS = ["ES256", "RS256", "EdDSA"]


class AccessTokenValidator(BearerTokenValidator):
    """JWT access tokens (RFC 9068 section 4)."""

    def __init__(self, issuer, audience):
        super().__init__(realm=audience)
        metadata = requests.get(f"{issuer}/.well-known/oauth-authorization-server", timeout=10)
        keys = requests.get(metadata.json()["jwks_uri"], timeout=10).json()
        self.keys = JsonWebKey.import_key_set(keys)
        self.claims_options = {
            "iss": {"essential": True, "value": issuer},
            "aud": {"essential": True, "value": audience},
            **{name: {"essential": True} for name in ("sub", "client_id", "iat", "exp", "jti")},
        }

    def authenticate_token(self, token_string):
        try:
            claims = JsonWebToken(ALGORITHMS).decode(
                token_string,
                self.keys,
                claims_cls=JWTBearerToken,
                claims_options=self.claims_options,
            )
            claims.validate()
        except (JoseError, ValueError):
            return None
        return claims if claims.header["typ"] == "at+jwt" else None


asked = json.load(sys.stdin)
protect = ResourceProtector()
protect.register_token_validator(AccessTokenValidator(asked["issuer"], asked["audience"]))


def answer(token):
    request = SimpleNamespace(headers={"Authorization": f"Bearer {token}"})
    try:
        return protect.validate_request([asked["scope"]], request)
    except OAuth2Error as error:
        return {"error": error.error, "status": error.status_code}


json.dump([answer(token) for token in asked["tokens"]], sys.stdout)
