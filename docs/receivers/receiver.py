import hashlib
import hmac
import json
import os
import re
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["SIGNING_SECRET"].encode()


def now():
    return float(os.environ.get("FIXED_NOW", time.time()))


def is_genuine(header, raw_body):
    """Whether a body comes from the service, and is not an old one that somebody sends again."""
    parts = {}
    for part in (header or "").split(","):
        name, _, value = part.partition("=")
        parts[name.strip()] = value.strip()
    t, v1 = parts.get("t", ""), parts.get("v1", "")
    if not re.fullmatch(r"[0-9]+", t) or not re.fullmatch(r"[0-9a-f]{64}", v1):
        return False
    if abs(now() - int(t)) > 300:
        return False
    expected = hmac.new(SECRET, t.encode() + b"." + raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, v1)


# In your database, in the transaction that does the work: an Idempotency-Key that is there already is a repeat.
handled = set()
work = []


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The bytes as they came, before anything is parsed.
        raw_body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_genuine(self.headers.get("X-Service-Signature"), raw_body):
            return self.answer(403, "")
        key = self.headers.get("Idempotency-Key")
        if key not in handled:
            handled.add(key)
            work.append(json.loads(raw_body))  # do it later: the answer must come within 15 seconds
            print(f"received {key}", flush=True)
        self.answer(200, str(len(work)))

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", 8080))), Receiver)
print(f"listening on {server.server_port}", flush=True)
server.serve_forever()
