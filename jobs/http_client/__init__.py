"""The only HTTP client for addresses that users name (`http.request` and webhooks): public addresses only.

A user's URL may point into our network. A name is resolved once, all its addresses are checked, and the
connection goes to a checked address, so a second answer of the name service cannot redirect it. Redirects
are not followed, and proxies of the environment are not used.

Not guarded against: a public address that leads back inside, such as the worker's own public one.

Built on http.client. httpx would bring five packages and replace only the exchange of one request: the
resolver, the checks, the deadline over all reads and the limit on framing would stand here all the same.
"""

from jobs.http_client.addresses import Allowance
from jobs.http_client.client import NoResponse, Response, request
from jobs.http_client.target import RequestRefused

__all__ = ["Allowance", "NoResponse", "RequestRefused", "Response", "request"]
