"""What questions ask for: their usual words with the topics of the facts that answer them, and the forms of both."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Literal, NamedTuple

from memory.base.words import content_words, is_request, stem, tokens

Mode = Literal["answer", "changes", "next", "traps"]
MODES: tuple[Mode, ...] = ("answer", "changes", "next", "traps")
WHOLE = (("project",), ("program",), ("first files",), ("parts",))
"""The topics that answer only where nothing else is asked for beside them."""
SINGLE, NEEDED = ("single test",), ("needed version", "tested with")
COMMANDS = ("single test", "test", "lint", "types", "format", "build", "set up")
"""The topics of commands, as their lines in the project map begin."""


class Intent(NamedTuple):
    """What people ask for: the form of such questions, the topics that answer them in their order, and the mode."""

    form: re.Pattern[str]
    topics: tuple[str, ...]
    mode: Mode = "answer"


def _intent(form: str, *topics: str, mode: Mode = "answer") -> Intent:
    return Intent(re.compile(form, re.IGNORECASE), topics, mode)


RUNTIMES = {
    r"python|cpython|pypy": "python", r"node(?:\.?js)?": "node", r"jdks?|jre|jvm|java": "java", r"msrv|rustc?": "rust",
    r"edition": "edition", r"golang|go": "go", r"c\+\+|cpp|cxx": r"c\+\+", r"php": "php", r"ruby": "ruby",
    r"elixir": "elixir", r"swift": "swift", r"(?:\.net|dotnet) sdk": "sdk",
    r"\.net|dotnet|target framework": r"targets|\.net", r"cmake": "cmake",
    r"typescript": "typescript", r"kotlin": "kotlin", r"scala": "scala", r"deno": "deno", r"bun": "bun",
    r"gradle": "gradle", r"maven": "maven", r"bazel": "bazel", r"otp|erlang": "otp", r"perl": "perl",
    r"c(?= standard)": r"\bc(?=\d)",
}  # fmt: skip
"""The languages and tools of which a version may be needed, each with the word for it in the facts."""
RUNTIME = rf"(?<!\w)(?:{'|'.join(RUNTIMES)})(?!\w)"
_NEEDS = r"\b(?:versions?|standards?|editions?|releases?|needs?|needed|required?|requires|supports?|supported)\b"
_REGISTRY = r"\b(?:to|on) (?:the )?(?:npm|pypi|crates\.io|rubygems|maven central|packagist|nuget|github)\b"
INTENTS = (
    _intent(r"\bnext\b(?! release)|\bto-?dos?\b|follow.?ups?|what (?:remains|now)\b|left to do|open (?:work|tasks?)"
            r"|\broadmap\b|\b(?:plans?|planned)\b", "step", "suggested action", mode="next"),
    _intent(r"\bgotchas?\b|\btraps?\b|pitfalls?|watch out|known (?:issues?|problems?)|what breaks|be careful|\brisks?\b"
            r"|(?:should|must|to) (?:i |we |one )?(?:not do|never do|avoid)", "gotcha", "rule", "risk", mode="traps"),
    _intent(r"\bcommits?\b|git log", "commits", mode="changes"),
    _intent(r"\bunreleased\b|next release|not released|\bfocus\b|(?:being )?worked on|work(?:ing)? on|going on",
            "focus", "state", "commits", mode="changes"),
    _intent(r"\bwhat\b.*\bchange[ds]?\b|\bchanged\b|\bchanges (?:in|of|between)\b|what.?s new|what is new"
            r"|\brecent(?:ly)?\b|\blately\b|\bsince\b",
            "commits", "focus", "state", "said", mode="changes"),
    _intent(r"\bdecisions?\b|\bdecided\b", "decision", "state"),
    _intent(r"\b(?:how (?:high|much)|which|minimum|required|enforced|threshold)\b.*\bcoverage\b"
            r"|\bcoverage\b.*\b(?:threshold|minimum|required|enforced|reach)", "coverage"),
    _intent(r"(?:tests?|suite|checks|it) (?:pass|green|broken|fail)\w*\b|last (?:run|validation)|validated",
            "validation"),
    _intent(r"\b(?:one|single|individual|specific|particular|just an?|only an?|a) (?:unit )?tests?\b(?! (?:suite|run))"
            r"|\btests? by (?:its )?name\b", *SINGLE),
    _intent(r"\bwhere\b.*\b(?:docs|documentation)\b(?: (?:web)?(?:sites?|pages?))?", "documentation"),
    _intent(r"\b(?:where|folder|directory)\b.*\b(?:tests?|specs?)\b|\bare there (?:any )?tests\b"
            r"|\b(?:tests?|specs?) (?:folder|director|files?|locat|live|kept)\w*", "tests"),
    _intent(r"\btest(?:s|ing|ed)?\b|\bspecs\b", "test", "parts tested", "before tests"),
    _intent(r"static(?:ally)? analy\w+", "types", "lint"),
    _intent(r"type.?check\w*|check (?:the )?types|\btyp(?:es|ing)\b|\bmypy\b|phpstan", "types"),
    _intent(r"\blint\w*(?:.*\bci\b)?|(?:code|coding)[ -](?:styles?|standards?)|style.?checks?|\bstyle\b",
            "lint", "format", "hooks"),
    _intent(r"\bformat(?:ted|ter|ting)?\b", "format"),
    _intent(r"\binstall (?:the |its |all )?(?:dependencies|requirements|packages)\b|\binstall\w*|\bset(?:ting)? ?up\b"
            r"|get(?:ting)? started|dev(?:elop\w+)? environment|\bbootstrap\b|\bprepare\b", "set up"),
    _intent(r"\bbuil[dt]\w*|\bcompil\w+", "build"),
    _intent(r"\bvalidat(?:e|ion|ing)\b|\bchecks?\b|\bcommands\b", "validate", "test", "lint", "types", "format"),
    _intent(rf"{RUNTIME}.*{_NEEDS}|{_NEEDS}.*{RUNTIME}|\b(?:which|minimum)\b[^?]{{0,12}}{RUNTIME}"
            r"|\b(?:msrv|jdk|edition|target framework)\b|\bversions?\b.*\b(?:need|requir|support|compatib|minim)\w*"
            r"|\b(?:need|requir|support|minim|oldest)\w*\b.*\bversions?\b", *NEEDED),
    _intent(rf"\A(?!.*{RUNTIME})(?=.*\b(?:versions?|release|tag)\b)"
            r"(?:(?=.*\b(?:which|what|current|latest|newest|last|own)\b)|version)", "own version"),
    _intent(rf"\b(?:releas(?:e|es|ed|ing)|publish\w*|deploy\w*|ship(?:ped|ping)?)\b|{_REGISTRY}", "release"),
    _intent(r"\bpackage manager\b", "package manager"),
    _intent(r"\bworkspace manager\b|\bmono-?repo\b", "workspace"),
    _intent(r"\b(?:dependenc\w+|depends?|third.party|requirements?)\b|\blibraries\b.*\buse", "dependencies"),
    _intent(r"\b(?:programming )?languages?\b|written in\b|\becosystems?\b|\btech(?:nology)? stack\b", "language"),
    _intent(r"\blicen[sc]\w+", "licence"),
    _intent(r"\bci\b|continuous integration|\bpipelines?\b|\bworkflows?\b",
            "integration", "tested with", "services"),
    _intent(r"\bpre-?commit\b|before a commit|\bcommit hooks?\b", "hooks"),
    _intent(r"entry.?points?|main (?:file|program|module)\b|\bwhere\b.*\b(?:start|begin)s?\b", "entry point"),
    _intent(r"\bread first\b|begin reading|(?:which|what|important) files\b|start reading|\bwhere (?:to|do i) start\b",
            "first files"),
    _intent(r"\b(?:run|start|launch|execute)\b", "program"),
    _intent(r"\b(?:which|what|list)\b.*\b(?:packages|modules|parts|components|crates)\b|\bstructured?\b|made of\b"
            r"|organi[sz]ed\b", "parts"),
    _intent(r"\barchitecture\b|\bdesign(?:ed)?\b", "note", "parts"),
    _intent(r"\b(?:what(?:['’]s| is| are| does)|describe|explain|tell|purpose|summary|about|why does)\b", "project"),
)  # fmt: skip
"""The intents; the first whose facts have all other words of the question answers it."""

NEUTRAL = frozenset(
    stem(word)
    for word in """
    project repository repo codebase code thing library package tool command commands script use used using usage
    run running need needed get has have available currently current contributor locally here please show tell list
    give suite source sources app application program work works working exactly proper way make find execute start
    launch check checks checked kind sort name called help explain describe live lives located placed kept stored
    file files folder folders directory place location defined implemented implementation definition declared latest
    newest last minimum required requires require supported supports support version versions whole full entire
    recommended first main present standard standards edition gem crate jar plugin framework workspace release
    releases tag new build built building compile high low old oldest lowest many much only all allowed always ever
    accept accepted pin pinned sdk backend least
    really without before after instead every each auto automatically known recorded made done one happens happened
    long look like want begin know mean means there any myself yourself itself computed calculated handled performed
    """.split()  # noqa: SIM905
)
"""The stems of words in questions that are about nothing in particular."""

NEWEST = re.compile(r"\b(?:latest|newest|last) (?:releas|version)", re.IGNORECASE)
AS_CI = re.compile(r"\b(?:the )?(?:same )?(?:way|as|like|what) (?:in )?ci(?: (?:does|runs|do))?\b", re.IGNORECASE)
"""A wish for what CI runs."""
STATED = re.compile(r"\A[^;?]*\b(?:I|we)\b[^;?]*;\s*", re.IGNORECASE)
"""What was done, said before the question."""
NEEDS = re.compile(r"\b(?:need|requir)\w*\b", re.IGNORECASE)
OR_NEWER = re.compile(r"\b(?:above|newer|later|higher|least)\b|\d\+", re.IGNORECASE)
BRANCH = re.compile(r"\bbranch\b.*\b(?:PRs?|pull requests?)\b|\b(?:PRs?|pull requests?)\b.*\bbranch\b", re.IGNORECASE)
LOG_ENTRY = re.compile(r"\b(?:change-?log|news) (?:entr|fragment|item)|\badd\b.*\bchange-?log\b", re.IGNORECASE)
ABOUT = re.compile(
    r"\b(?:where|what(?:['’]s| is| are| does| the)|which (?:file|module|class|folder)|explain|describe|defined?|find)\b"
    r"|\btell me about\b|\bwho is\b",
    re.IGNORECASE,
)
"""The form of a question that may be about a name."""
KIND = re.compile(
    r"\b(?:class|struct|interface|trait|enum|type|function|method|module|macro|object|component|namespace|logic|code"
    r"|implementation|file|folder|directory|package|constant|variable)\b",
    re.IGNORECASE,
)
"""The words for what a name means."""
CODE = re.compile(r"`[^`]+`|\w*[a-z0-9][A-Z]\w*|\b[A-Z]{2,}[a-z]\w+|\w+_\w+|\w::\w|\w/\w|\w\.(?!js\b)[a-z]{1,4}\b")
"""A word that can only be a name in code."""
NAME = re.compile(r"`([^`]+)`|[\w@][\w./@:#-]*\w|\w")
NAMED = re.compile(r"[`_./:#\d]|\w[A-Z]|\A[A-Z]")
"""A word in a question, and what makes it a name: a sign, a digit or a capital in it."""


def mode_of(question: str) -> Mode:
    """Return the mode that the words of a question ask for: next before traps before changes, else answer."""
    return next((one.mode for one in INTENTS if one.mode != "answer" and one.form.search(question)), "answer")


_NO_COMMAND_ASKED = re.compile(r"why|where|what (?:is|are)\b(?!.*\bcommand)", re.IGNORECASE)
_A_PLACE = re.compile(r"`[^`]*[\w/][./][\w/][^`]*`|://|\A[\w/.-]+\Z")
"""What tells a place in the repository."""
_FORMS = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(said, re.IGNORECASE))
    for asked, said in (
        (r"\bhow (?:high|many|much|long|often|large|big)\b|\b(?:minimum|threshold|limit)\b",
         r"(?<![\w.`])\d[\d.]*%?(?![\w.]*\w)"),
        (r"\bwhat (?:must|should|do|steps)\b.*\b(?:before|when)\b", r";.*;"),
        (r"\Awhy\b|\breason\b", r"\b(?:because|since|so that|due to|in order to|otherwise|rel(?:y|ies))\b"),
        (r"\b(?:may|must|should|can|could|do|need) (?:i|we|one|contributors?|it|my)\b|\ballowed\b|\baccept\w*\b"
         r"|\bbranch\b|\A(?:is|are|does|do|will)\b",
         r"\b(?:must|should|please|never|don['’]t|not|only|need|requir\w+|avoid|recommend\w*|cannot|against)\b"),
        (r"\bwh(?:at|ich)\b.*\b(?:need\w*|requir\w*|prerequisites|depend\w*)\b",
         r"\A(?!.*n['’]t need).*\b(?:need|requir|depend|install|prerequisite)"),
    )
)  # fmt: skip
"""The forms of questions, each with the words by which a sentence answers it."""


_FITTING, _VERDICT, _REFUSAL, _OTHER_FORM, _PROSE = 1.25, 1.5, 2.5, 0.75, 0.6
"""The weight of a sentence in the form that is asked for, of one that allows or forbids, of a command where none is
asked for, of a sentence where a command is.
"""
_MAY = re.compile(r"\b(?:may|can|am|are) (?:I|we|one)\b|\A(?:is|are)\b.*\b(?:allowed|accepted)\b", re.IGNORECASE)
_ALLOWS = re.compile(
    r"\b(?:not|no (?:\w+ ){1,3}(?:will be|are|is)) (?:accepted|allowed|supported|permitted)\b"
    r"|\b(?:do not|don['’]t|must not|cannot|never|only)\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\b(?:stop|no longer|not(?: currently)?) accepting\b|\bno (?:\w+ ){1,3}(?:will be|are) accepted\b|\bnot planned\b",
    re.IGNORECASE,
)
_TARGET = re.compile(r"`[^`]+`: (?:Run|Build|Create)s?\b")
"""What a list says of a target."""
_VERSION = re.compile(r"(?<![\w.>=<~^])v?(\d+(?:\.\d+)*)(?![\w.])", re.IGNORECASE)
_OF_GUIDES = ("need", "pull", "request", "requests", "submit", "submitting", "send", "open", "commit", "propose")
_NEED = re.compile(r"\bwh(?:at|ich)\b.*\b(?:needs?|needed|requires?|required|prerequisites?|depends?)\b", re.IGNORECASE)
_CHANGED = re.compile(
    r"\b(?:since|new|fix(?:es|ed)?|add(?:s|ed)?|removed?|br(?:oke|eaking)|coming|differ\w*)\b", re.IGNORECASE
)


class Asked:
    """A question, its words and its form."""

    def __init__(self, text: str, own: str) -> None:
        """`own` is the name of the project, which says little in it."""
        self.text, self.as_ci = AS_CI.sub("", text).strip(), AS_CI.search(text) is not None
        self._little = NEUTRAL | {stem(word) for word in (*tokens(own), *tokens(own.rpartition("/")[2]))}
        found = _VERSION.search(self.text)
        self.version = found[1] if found else ""
        """The version that it names, "" for none."""
        self.is_of_need = _NEED.search(self.text) is not None
        every = content_words(_VERSION.sub(" ", spelled(self.text)))
        # What says little is asked for only where nothing else is.
        self.words = [word for word in every if not self.is_little(word)] or list(every)
        telling = [word for word in self.words if not says_little(word)]
        self.tells, self.telling = bool(telling), telling or self.words
        """The words that tell what it is about."""
        self.is_what = self.text.lower().startswith(("what ", "which "))
        where = r"where (?!do |should |can )|which (?:source )?file\b"
        self.is_where = re.match(where, self.text, re.IGNORECASE) is not None
        self.is_place = re.match(r"wh(?:ich|ere)\b", self.text, re.IGNORECASE) is not None
        self.is_why = self.text.lower().startswith("why")
        how = r"\bhow (?:do|can|to|should|would)\b|\bcommand\b|\bwhat (?:do|must|should|can) (?:i|we|you) run\b"
        self.is_how = re.search(how, self.text, re.IGNORECASE) is not None
        self.is_about = ABOUT.search(self.text) is not None
        self.is_of_change = "branch" not in self.text and _CHANGED.search(self.text) is not None

    def is_little(self, word: str) -> bool:
        """Return whether a word is about nothing in particular."""
        return stem(word) in self._little and not (self.is_of_need and word in ("need", "build", "compile"))

    def rest(self, intent: Intent | None) -> set[str]:
        """Return the words that are about something, except those by which an intent asks."""
        text = self.text
        if intent is not None:
            # What is between the first and the last word of a form may be what it is about.
            text = intent.form.sub(lambda found: f" {' '.join(found[0].split()[1:-1])} ", text)
        if intent is not None and intent.topics == NEEDED:
            text = re.sub(RUNTIME, " ", text, flags=re.IGNORECASE)
        return {word for word in content_words(text) if stem(word) not in self._little}

    @cached_property
    def runtimes(self) -> dict[str, str]:
        """The languages and tools that it names: the word for each in the facts, with the form of its names."""
        forms = ((word, rf"(?<!\w)(?:{form})(?!\w)") for form, word in RUNTIMES.items())
        return {word: form for word, form in forms if re.search(form, self.text, re.IGNORECASE)}

    def is_heading(self, title: str) -> bool:
        """Return whether a heading says what the question does, in two or more words."""
        words = {stem(word) for word in content_words(spelled(title))}
        asked = {stem(word) for word in content_words(spelled(self.text))}
        return len(words) > 1 and words <= asked and {stem(word) for word in self.words} <= words

    def is_of_command(self, said: str) -> bool:
        """Return whether a text has a command that the question asks about."""
        return any(" " in one and one in self.text for one in re.findall(r"`([^`]+)`", said))

    def fits(self, said: str, is_command: bool) -> float:
        """Return how well the form of a text, or of a command, fits that of the question; 0 for not at all."""
        if self.is_how:
            return _FITTING if is_command else 1.0 if runs(said) or _TARGET.search(said) else _PROSE
        if (is_command and _NO_COMMAND_ASKED.match(self.text)) or (self.is_where and not _A_PLACE.search(said)):
            return 0.0
        form = next((form for asked, form in _FORMS if asked.search(self.text)), None)
        other = is_command and not self.text.lower().startswith("how ")
        if _MAY.search(self.text) and not is_command:
            return _REFUSAL if _REFUSES.search(said) else _VERDICT if _ALLOWS.search(said) else 1.0
        fits = self.is_of_command(said) or (form is not None and form.search(said))
        return (_OTHER_FORM if other else 1.0) * (_FITTING if fits else 1.0)


def says_little(word: str) -> bool:
    """Return whether a word is one with which people say what to do, or one of nearly every guide."""
    return is_request(word) or word in _OF_GUIDES


def spelled(text: str) -> str:
    """Return a text with the words that are written in several ways in one of them."""
    text = re.sub(r"\bPR(s?)\b", r"pull request\1", text)
    text = re.sub(r"(?i)\bre(?=generat)", "", text)
    text = re.sub(r"(?i)\bbump", "update", text)
    text = re.sub(r"(?i)\bjdks?\b", "java", text)
    text = re.sub(r"(?i)\balso (?:modify|edit|adjust|update)\b", "else change", text)
    text = re.sub(
        r"(?i)\b(?:need to install|prerequisites?|require(?:s|d|ments?)?|needed|needs|depends on)\b", "need", text
    )
    return re.sub(r"(?i)\blicenc", "licens", text)


def runs(said: str) -> bool:
    """Return whether a sentence says something that can be run."""
    return any(re.search(r"\w[ /]", one) and not re.search("[{}()]", one) for one in re.findall(r"`([^`]+)`", said))
