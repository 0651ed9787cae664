"""Sends requests with a traceparent of their own, on a new connection each.

    clients.py PORT SECONDS THREADS FLAGS FILE

FLAGS are 01 (sampled) or 00. FILE gets the traceparent of each request that was answered.
"""
import http.client
import secrets
import sys
import threading
import time

port, seconds, threads, flags = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
end = time.monotonic() + seconds
sent = []


def loop():
    while time.monotonic() < end:
        traceparent = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-{flags}"
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/item", headers={"traceparent": traceparent})
        connection.getresponse().read()
        connection.close()
        sent.append(traceparent)


loops = [threading.Thread(target=loop) for _ in range(threads)]
for t in loops:
    t.start()
for t in loops:
    t.join()
with open(sys.argv[5], "w") as f:
    f.writelines(t + "\n" for t in sent)
