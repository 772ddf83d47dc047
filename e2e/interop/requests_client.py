"""requests with a password: reads an Asking (programs.ts) and writes what came of each request.

Everything goes through one session. Names and passwords go to HTTPBasicAuth as UTF-8, as its users have to
do for other than ISO-8859-1.
"""
import json
import re
import sys

import requests
from requests.auth import HTTPBasicAuth, HTTPDigestAuth

asking = json.load(sys.stdin)
name, password = asking["name"], asking["password"]
session = requests.Session()
session.trust_env = False
session.auth = (
    HTTPBasicAuth(name.encode(), password.encode())
    if asking["scheme"] == "basic"
    else HTTPDigestAuth(name, password)
)


def ask(method, url, content=None):
    answer = session.request(method, url, data=content, timeout=20)
    sent = answer.request.headers.get("Authorization", "")
    nc = re.search(r"nc=(\w+)", sent if isinstance(sent, str) else sent.decode())
    return {
        "statuses": [one.status_code for one in [*answer.history, answer]],
        "body": answer.text,
        "nc": nc and nc[1],
    }


json.dump([ask(*one) for one in asking["requests"]], sys.stdout)
