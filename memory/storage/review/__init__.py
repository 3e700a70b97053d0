"""What an agent changes passes the person's rules first: it is made, waits for the person as a proposal, or is refused.

Every change goes through a transaction, and every transaction of an agent through `gate`: no verb has to ask, and none
can forget to.
"""

from __future__ import annotations
