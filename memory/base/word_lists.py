"""Lists of words: irregular forms, abbreviations, words that say little about the subject of a text, those of rules."""

from __future__ import annotations

import re

_IRREGULAR = """
break broke broken, bring brought, build built, buy bought, catch caught, choose chose chosen choice, do did done,
drive drove driven, fall fell fallen, feed fed, find found, freeze froze frozen, get got gotten, give gave given, go
went gone, grow grew grown growth, hide hid hidden, hold held, keep kept, know knew known, leave left, lend lent, lose
lost loss, make made, mean meant, meet met, pay paid, person people, run ran, sell sold sale, send sent, shut
shutdown, speak spoke spoken, spend spent, steal stole stolen, stick stuck, take took taken, teach taught, tell told,
think thought, throw threw thrown, wake woke woken, wear wore worn, write wrote written, analysis analyse analyze,
child children, index indices indexes
"""
IRREGULAR = {form: forms.split()[0] for forms in _IRREGULAR.split(",") for form in forms.split()}
"""Forms whose stem no rule gives."""

_SHORT_FORMS = """
auth authentication authorization authorisation, cert certificate, config configuration, db database, dev development
developer, dir directory folder, doc docs documentation, env environment, infra infrastructure, k8s kubernetes, lib
library, max maximum, min minimum, msg message, perf performance, pg postgres postgresql, prod production, pwd passwd
password, repo repository, req request, spec specification, stg staging, svc service, sync synchronisation
synchronization, temp temporary, tz timezone
"""
SHORT_FORMS = tuple(frozenset(forms.split()) for forms in _SHORT_FORMS.split(","))
"""Abbreviations, each with its long forms."""

_SYNONYMS = """
account login profile, address location place where, agreement contract, alert alarm notification notify, allow permit
permission allowed, amount quantity number, answer reply respond response, appointment meeting call, approve approval
accept sign confirm, ask request question, attempt retry try, backup copy archive replica, begin start launch, bill
invoice receipt, boss manager lead, branch fork, broken defective faulty, broker queue bus messaging, budget cost price
expense money, bug defect fault issue, build compile, bundle package artifact, buy purchase order, calendar schedule
timetable plan, cancel abort stop, car vehicle van, certificate tls ssl, chart graph diagram dashboard, cheap
inexpensive, choose pick select decide, client customer consumer, clock time, close shut finish, cluster kubernetes
k8s, code source, colleague teammate coworker, comment remark note, company firm business, computer machine server
host, config setting option preference, container docker, convention style format formatting, country nation, crash
outage incident downtime failure, credential secret password passphrase, data information record, database storage
postgres mysql sqlite, deadline due, decode parse, decision choice agreed, delay wait pause timeout, delete remove
erase purge drop discard, deploy release rollout ship publish, deprecated retired legacy obsolete, developer engineer
programmer, device hardware equipment node, disable off deactivate, display screen show, document documentation manual
guide, employee staff worker, enable on activate, encrypt encryption cipher, error exception failure, expensive costly,
fast quick speed performance latency, fee charge payment, file document, folder directory path, forbid ban prohibit
never forbidden, frequency interval often every, frontend ui interface, function method, gateway proxy, grow increase
raise, guest visitor, handset phone mobile telephone, holiday vacation absence, image picture photo, install setup
flash, job task, journal log history, key token, language locale, lawyer legal attorney, library dependency framework,
limit cap maximum quota threshold throttle, list catalogue inventory, logout session signout, lorry truck, lose loss
drop missing, mail email letter, measurement metric reading value, merge integrate combine, message text, migrate move
transfer switch, module component, monitor watch observe, night nightly, office building, outdated stale old, owner
responsible maintainer who, page site website, parameter argument, person user human, private internal confidential,
process procedure workflow, project repository, protect secure security, provider vendor supplier, pull fetch, push
upload, rate frequency, reason cause because, reboot restart, recent new latest, reduce decrease lower shrink, region
zone area, rename retitle, repair fix fix, replace substitute, report summary, revert undo rollback restore, review
inspect audit, road street, role permission right, rule policy guideline, safe vault, sale shop store, salary wage pay,
schema structure, script program, search find lookup, send transmit deliver post, sensor probe meter, server backend,
shift duty oncall, shorten truncate cut, size capacity volume, stage step phase, staging test, standup daily, table
relation, tag label, team group crew, telemetry measurement, terminal shell console, test check verify validate, ticket
issue, transaction payment, translate localise, tutorial course lesson, update upgrade, user customer, version release,
weekly week, winter december january, yearly annual year
"""
SYNONYMS = tuple(frozenset(words.split()) for words in _SYNONYMS.split(","))
"""Words of work and software, each with others for the same thing."""

_STOP_WORDS = """
a about after again all also am an and any are as at be because been before being but by can could did do does doing
done for from get gets got gotten had has have having he her here him his how i if in into is it its just let like me
may might more most must my no not now of off on once only or our out over own please same shall she should so some
such tell than that the their them then there these they this those to too under until up us use used uses very want
was we were what when where which while who whom whose why will with would you your s t d m re ve ll aren couldn didn
doesn don hadn hasn haven isn shouldn wasn weren won wouldn current currently latest nowadays still anyone anybody
someone somebody anything something make makes made thanks thank ok okay yes hello hi go going der die das den dem des
ein eine einen einem einer und oder ist sind war wir ihr ich er sie es wie wer wo wann warum wird werden hat haben mit
von vom zu zum zur im auf aus bei nach nicht auch noch le la les un une du de et ou est sont qui que quoi quand
comment pourquoi dans sur avec pour par il elle nous vous je ne pas el los las y o son quien cuando como donde por
para con en se che di lo gli
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""Words that count least: they are in most questions, and say little about the subject."""

REQUEST_WORDS = frozenset(
    """
    add apply ask bad better change check clean complete continue convert copy correct count create delete describe
    different difference draw edit else error example explain file find finish first fix follow format function give
    good great help idea improve instead keep know large last line list long look match mean method move name need new
    next nice number old open order output part place point print problem put question read remove rename
    repeat replace rest result run same see send sentence set short shorter simple small sort start step stop
    suggest sum test text thing today tomorrow tonight translate try
    turn undo update variable way word work world write wrong yesterday
    """.split()  # noqa: SIM905
)
"""Words, as stems of themselves, with which people say what to do; they say less about what it is about."""

FUNCTION_CHARACTERS = frozenset(
    "的了在是我们你您他她它这那个些哪什么怎样谁吗呢吧啊呀为何因和与跟或及把被给让就也都很还又再才会能可以要应该"
    "有没不多少几时候请从到对于向由上下里中之其此该得着过地则而但并且如若虽然所以第年月日号"
)
"""Chinese function characters. Japanese has hiragana for that."""

_RULE = re.compile(
    r"(?:please )?(?:never|always|do not|don't|must|only|avoid|prefer|ask before|no \w+ (?:on|before|after|without)\b)"
    r"|.*\b(?:never|must|prefers?|may not|not allowed|forbidden)\b",
    re.IGNORECASE,
)


def sounds_like_rule(text: str) -> bool:
    """Return whether the first sentence of a text says how to act: a rule, or what a person prefers."""
    return _RULE.match(text.split("\n", 1)[0].split(". ", 1)[0]) is not None
