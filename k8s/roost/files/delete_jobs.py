"""Deletes the Jobs that one Roost has made in this pod's namespace; their pods and Secrets go with them."""

import json
import os
import ssl
import urllib.parse
import urllib.request
from pathlib import Path

account = Path("/var/run/secrets/kubernetes.io/serviceaccount")
token = (account / "token").read_text(encoding="ascii")
namespace = (account / "namespace").read_text(encoding="ascii")
host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
if ":" in host:
    host = f"[{host}]"

labels = f"app.kubernetes.io/managed-by=roost,app.kubernetes.io/instance={os.environ['ROOST_INSTANCE']}"
query = urllib.parse.urlencode({"labelSelector": labels})
request = urllib.request.Request(
    f"https://{host}:{port}/apis/batch/v1/namespaces/{namespace}/jobs?{query}",
    method="DELETE",
    data=json.dumps({"propagationPolicy": "Background"}).encode(),
    headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
)
context = ssl.create_default_context(cafile=str(account / "ca.crt"))
# From Python 3.13 on "strict" is the default, and refuses the certificate authorities of some clusters.
context.verify_flags &= ~ssl.VERIFY_X509_STRICT
with urllib.request.urlopen(request, timeout=60, context=context) as answer:
    deleted = json.load(answer).get("items", [])
print(f"Deleted {len(deleted)} Jobs of Roost in {namespace}.")
