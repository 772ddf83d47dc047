"""An application on Authlib to which a person signs in: code flow with PKCE, ID token, userinfo, refresh.

Reads a line with a JSON object from standard input: issuer, resource (the URL to ask for), client_id,
method (token_endpoint_auth_method), secret, redirect_uri, scope. Writes a line with the URL for the
browser, reads a line with the URL that the browser was sent to, and writes one JSON object with what came
of each step.
"""
import json
import sys

import requests
from authlib.common.security import generate_token
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.requests_client import OAuth2Session
from authlib.jose import JsonWebKey, JsonWebToken
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import OpenIDProviderMetadata, get_well_known_url

asked = json.loads(sys.stdin.readline())
found = requests.get(get_well_known_url(asked["issuer"], external=True), timeout=10).text
metadata = OpenIDProviderMetadata(json.loads(found))
# Authlib takes https alone, which a pair on loopback is not.
OpenIDProviderMetadata(json.loads(found.replace("http://", "https://"))).validate()
token_endpoint = metadata["token_endpoint"]


def new_session(**more):
    return OAuth2Session(
        asked["client_id"],
        asked.get("secret"),
        token_endpoint_auth_method=asked["method"],
        revocation_endpoint_auth_method=asked["method"],
        redirect_uri=asked["redirect_uri"],
        scope=asked["scope"],
        code_challenge_method="S256",
        **more,
    )


session = new_session()
verifier, nonce = generate_token(48), generate_token(20)
url, state = session.create_authorization_url(
    metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce
)
print(url, flush=True)
callback = sys.stdin.readline().strip()


def redeem(with_session, **more):
    return with_session.fetch_token(
        token_endpoint, authorization_response=callback, state=state, **more
    )


def refusal(attempt):
    """What the attempt is refused with."""
    try:
        return attempt()
    except OAuthError as error:
        return error.error


token = redeem(session, code_verifier=verifier)
keys = JsonWebKey.import_key_set(requests.get(metadata["jwks_uri"], timeout=10).json())
claims = JsonWebToken(["RS256"]).decode(
    token["id_token"],
    keys,
    claims_cls=CodeIDToken,
    claims_options={"iss": {"value": metadata["issuer"]}, "aud": {"value": asked["client_id"]}},
    claims_params={
        "nonce": nonce,
        "client_id": asked["client_id"],
        "access_token": token["access_token"],
    },
)
claims.validate()
userinfo = session.get(metadata["userinfo_endpoint"]).json()
before = session.get(asked["resource"]).status_code

refreshed = session.refresh_token(token_endpoint, refresh_token=token["refresh_token"])
after = session.get(asked["resource"]).status_code
session.revoke_token(
    metadata["revocation_endpoint"], refreshed["refresh_token"], token_type_hint="refresh_token"
)
revoked = session.get(asked["resource"]).status_code
again = refusal(
    lambda: session.refresh_token(token_endpoint, refresh_token=refreshed["refresh_token"])
)
replayed = refusal(lambda: redeem(new_session(), code_verifier=verifier))

json.dump(
    {
        "token": token,
        "claims": claims,
        "userinfo": userinfo,
        "before": before,
        "rotated": refreshed["refresh_token"] != token["refresh_token"],
        "after": after,
        "revoked": revoked,
        "again": again,
        "replayed": replayed,
    },
    sys.stdout,
)
