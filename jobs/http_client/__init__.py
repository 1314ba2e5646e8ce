"""The one way out over HTTP: for `http.request` and for webhooks, to public addresses only.

What a client of ours names is not trusted to be outside. A name is resolved once, every address of it
is checked, and the connection goes to a checked address, so a second answer of the name service cannot
redirect it. Redirects are not followed and proxies of the environment are not used.

Not guarded against: a public address that leads back inside, such as the worker's own public one.
"""

from jobs.http_client.addresses import Allowance
from jobs.http_client.client import Answer, Unanswered, request
from jobs.http_client.target import RequestRefused

__all__ = ["Allowance", "Answer", "RequestRefused", "Unanswered", "request"]
