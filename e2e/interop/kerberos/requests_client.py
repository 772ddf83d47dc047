"""requests with requests-kerberos, which refuses an answer whose server has not proved itself.

Arguments: the URL. Writes a JSON list with status and content of GET, GET and POST of one session.
"""
import json
import sys

import requests
from requests_kerberos import REQUIRED, HTTPKerberosAuth

session = requests.Session()
session.trust_env = False
session.auth = HTTPKerberosAuth(mutual_authentication=REQUIRED)
answers = [session.get(sys.argv[1]), session.get(sys.argv[1]), session.post(sys.argv[1], data=b"x")]
json.dump([[answer.status_code, answer.text] for answer in answers], sys.stdout)
