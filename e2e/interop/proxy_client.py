"""requests behind a proxy: reads the URL of the proxy, with name and password, and URLs to ask; writes
the status and the content of each answer, or the error that there was instead.
"""
import json
import sys

import requests

asking = json.load(sys.stdin)
session = requests.Session()
session.trust_env = False
session.proxies = {"http": asking["proxy"], "https": asking["proxy"]}
session.verify = asking["certificate"]


def ask(url):
    try:
        answer = session.get(url, timeout=20)
        return {"status": answer.status_code, "body": answer.text}
    except requests.exceptions.ProxyError as error:
        return {"error": str(error)}


json.dump([ask(url) for url in asking["urls"]], sys.stdout)
