"""Authlib's OAuth2Session, which names its scopes again at each refresh (script-client.ts says how it is run)."""
import json
import sys

from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session

asked = json.loads(sys.stdin.readline())
session = OAuth2Session(
    asked["client_id"],
    asked["secret"],
    redirect_uri=asked["redirect_uri"],
    scope=asked["scope"],
    code_challenge_method="S256",
)
verifier = generate_token(48)
url, state = session.create_authorization_url(asked["issuer"] + "/auth", code_verifier=verifier)
print(url, flush=True)
first = session.fetch_token(
    asked["issuer"] + "/token",
    authorization_response=sys.stdin.readline().strip(),
    state=state,
    code_verifier=verifier,
)
second = session.refresh_token(asked["issuer"] + "/token")
json.dump({"scopes": [first["scope"], second["scope"]], "token": second["access_token"]}, sys.stdout)
