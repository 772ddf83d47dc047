"""A client on Authlib: gets a token, uses it, introspects it, revokes it and uses it again.

Reads a JSON object from standard input: issuer, resource (the URL to ask for), client_id, method
(token_endpoint_auth_method), secret (the client secret, or a private JWK for private_key_jwt), alg.
Writes one JSON object with what came of each step.
"""
import json
import sys

import requests
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata, get_well_known_url

asked = json.load(sys.stdin)
metadata = AuthorizationServerMetadata(
    requests.get(get_well_known_url(asked["issuer"], external=True), timeout=10).json()
)

session = OAuth2Session(
    asked["client_id"],
    asked["secret"],
    token_endpoint_auth_method=asked["method"],
    revocation_endpoint_auth_method=asked["method"],
    scope=asked.get("scope"),
)
if asked["method"] == "private_key_jwt":
    session.register_client_auth_method(PrivateKeyJWT(metadata["issuer"], alg=asked["alg"]))

token = session.fetch_token(
    metadata["token_endpoint"], grant_type="client_credentials", resource=asked["resource"]
)
before = session.get(asked["resource"])
introspected = session.introspect_token(
    metadata["introspection_endpoint"], token["access_token"], "access_token"
)
revoked = session.revoke_token(
    metadata["revocation_endpoint"], token["access_token"], "access_token"
)
after = session.get(asked["resource"])
ended = session.introspect_token(metadata["introspection_endpoint"], token["access_token"])

json.dump(
    {
        "token": token,
        "before": before.status_code,
        "introspected": introspected.json(),
        "revoked": revoked.status_code,
        "after": after.status_code,
        "ended": ended.json(),
    },
    sys.stdout,
)
