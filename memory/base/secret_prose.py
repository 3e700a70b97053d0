"""Words that people write behind `password:`, `token:` and `Bearer` without telling one."""

from __future__ import annotations

_WORDS = """
above absent account actor added again agent agents algorithm allowed already also always apps argument around asked
auth authentication authorisation authorization available backed based been before behind below between bitwarden
blank bond bonds bot both but bytes cache cached called capped carries change changed changes check checked chip
cleared client common complete config configured cookie cookies copied correct created credential credentials
current custom daily dashlane data deleted denied deprecated detected different disabled does done doppler down each
either elsewhere email empty enabled encoded encrypted enough entered environment every example exists expire
expired expires expiry external failed fails false fetched field file files fine five flow forgotten format found
four free fresh from full generated given gone good granted grants handling hardcoded hashed have having header
headers here hidden hint hourly http https human ignored implicit included infisical inside instead into invalid
invalidated issued itself just kept keychain keyring kms known last lastpass later leaked left length letters
limited literal locked long lost mandatory manual manually many masked matches means method middleware minimum
minted missing mode monthly more must name named needed needs never next nobody none normal null oauth offline okay
omitted once onepassword only opaque open optional other ours outdated owner parsed part passed pending permanent
person personal plain plaintext plus policy prefix present private prompt prompted provided public random rather
read ready received recommended redacted refresh refreshed rejected removed renewed replaced required requires reset
restricted returned revoked root rotate rotated rotates rotating rotation rules safe same scheme schemes scope
scoped sent separate server session sessions shared short should shown signed simple since single slack some static
still storage store stored string strong such support supported sync system team temporary test tests text than that
their them then there these they this three time today token tokens tomorrow true type typed types unchanged
undefined under unique unknown unlimited unset until unused updated usage used user users usually valid validated
value values vault verified version wanted warning weak weekly were what when where which will with without works
wrong yearly your
"""

PROSE_WORDS = frozenset(_WORDS.split())
"""The words, in lower case."""
