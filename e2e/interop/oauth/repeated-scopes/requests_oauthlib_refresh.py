"""requests-oauthlib, which names its scopes again at each refresh (script-client.ts says how it is run)."""
import base64
import hashlib
import json
import secrets
import sys

from requests_oauthlib import OAuth2Session

asked = json.loads(sys.stdin.readline())
session = OAuth2Session(
    asked["client_id"], redirect_uri=asked["redirect_uri"], scope=asked["scope"].split()
)
verifier = secrets.token_urlsafe(48)
digest = hashlib.sha256(verifier.encode()).digest()
url, _state = session.authorization_url(
    asked["issuer"] + "/auth",
    code_challenge=base64.urlsafe_b64encode(digest).decode().rstrip("="),
    code_challenge_method="S256",
)
print(url, flush=True)
first = session.fetch_token(
    asked["issuer"] + "/token",
    authorization_response=sys.stdin.readline().strip(),
    code_verifier=verifier,
    client_secret=asked["secret"],
)
second = session.refresh_token(
    asked["issuer"] + "/token", auth=(asked["client_id"], asked["secret"])
)
scopes = [" ".join(token["scope"]) for token in (first, second)]
json.dump({"scopes": scopes, "token": second["access_token"]}, sys.stdout)
