"""Tells in the reader's language why something was refused: the verbs and the API say it in English.

What is not known here is shown as it was said.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from django.utils.translation import gettext_lazy as _

from jobs.display import Text
from jobs.errors import ErrorText

# By the sentence: what it is about, and the same in words to be translated. What a group named `rest`
# holds is a sentence itself.
Known = tuple[str, Text]

KNOWN: tuple[Known, ...] = (
    (r"A whole number is needed\.", _("A whole number is needed.")),
    (r"Write the hidden value again: .*", _("Write the hidden value again: it has moved, or is new.")),
    (r"This field is required\.", _("It is needed.")),
    (r"This field may not be blank\.", _("It is needed.")),
    (r"Field required", _("It is needed.")),
    (r"Extra inputs are not permitted", _("The Task takes no such argument.")),
    (r"Input should be a valid (?P<kind>\w+).*", _("It is of another type (%(kind)s).")),
    (
        r"Input should be (?P<side>greater|less) than (?P<equal>or equal to )?(?P<limit>.*)",
        _("It lies beyond its limit, %(limit)s."),
    ),
    (r"No Task '(?P<name>.*)' is registered\.", _("There is no Task %(name)s.")),
    (
        r"The Task '(?P<name>.*)' is started by the system only\.",
        _("The Task %(name)s is started by the system only."),
    ),
    (r"Unknown field\.", _("There is no such field.")),
    (
        r"Expected a whole number from (?P<low>-?\d+) to (?P<high>\d+)\.",
        _("It must be a whole number from %(low)s to %(high)s."),
    ),
    (r"Expected one of (?P<allowed>.*)\.", _("It must be one of %(allowed)s.")),
    (
        r"Expected a text of at most (?P<most>\d+) characters\.",
        _("It must be a text of at most %(most)s characters."),
    ),
    (r"Expected an object\.", _("An object is needed here: {…}.")),
    (
        r"The body is not valid JSON: (?P<why>.*) at line (?P<line>\d+) column (?P<column>\d+)\.",
        _("This is not JSON: line %(line)s, character %(column)s (%(why)s)."),
    ),
    (r"Input should be (?P<allowed>'.*')", _("It must be one of %(allowed)s.")),
    (r"Input should be a finite number", _("It must be a finite number.")),
    (
        r"(String|List|Dictionary|Tuple) should have at (?P<side>least|most) (?P<limit>\d+) .*",
        _("It is shorter or longer than it may be; the limit is %(limit)s."),
    ),
    (r"String should match pattern '(?P<pattern>.*)'", _("It must look like %(pattern)s.")),
    (r"Value error, (?P<rest>.*)", "%(rest)s"),
    (r"Unknown setting\.", _("There is no such setting.")),
    (r"An office has at most (?P<most>\d+) webhooks\.", _("An office has at most %(most)s webhooks.")),
    (
        r"The webhook is disabled: enable it first\.",
        _("The webhook is disabled: enable it first."),
    ),
    (
        r"(?P<count>\d+) of its jobs are processing: .*",
        _("%(count)s of its jobs are running: cancel them, and wait until they have stopped."),
    ),
    (
        r"The office has a job with this unique_key .*",
        _("The office has a job with this unique key that has not ended."),
    ),
    (
        r"An office needs an owner: make somebody else one first\.",
        _("An office needs an owner: make somebody else one first."),
    ),
    (r"An Execution of (?P<task>.*) has not ended\.", _("A run of %(task)s has not ended.")),
    (
        r"The URL is longer than (?P<most>\d+) characters\.",
        _("The address is longer than %(most)s characters."),
    ),
    (
        r"The URL holds a space, a backslash or a control character\.",
        _("The address holds a space, a backslash or a control character."),
    ),
    (r"This is not a URL\.", _("This is no address of the web.")),
    (
        r"The URL must start with http:// or https://\.",
        _("The address must start with http:// or https://."),
    ),
    (
        r"The URL holds a user name or a password; .*",
        _("The address holds a user name or a password."),
    ),
    (
        r"The URL's host is not a valid name or address\.",
        _("The host in the address is no valid name or number."),
    ),
    (
        r"Only public addresses can be reached, on port 80, 443 or from 1024 on\.",
        _("Only public addresses can be reached, on port 80, 443 or from 1024 on."),
    ),
    (
        r"Choose at least one event, or disable the webhook\.",
        _("Choose at least one event, or disable the webhook."),
    ),
)
# What is wrong may come with its place in front: "numbers: Field required".
_PLACED = re.compile(r"([\w.-]+): (.*)", re.DOTALL)

_known: list[tuple[re.Pattern[str], Text]] = []
_places: dict[str, Text] = {}


def register(known: Iterable[Known], places: Mapping[str, Text] | None = None) -> None:
    """For the apps above: the sentences of their own verbs, and the names of places in them."""
    _known.extend((re.compile(pattern, re.DOTALL), words) for pattern, words in known)
    _places.update(places or {})


def told(sentence: object) -> str:
    """An ErrorText is in the reader's language already; a sentence is looked up."""
    if isinstance(sentence, ErrorText) and " " not in sentence.code:
        return str(sentence)
    return in_words(str(sentence)) or str(sentence)


def in_words(sentence: str) -> str:
    """Nothing if the sentence is not known."""
    for pattern, words in _known:
        if found := pattern.fullmatch(sentence):
            return str(words) % {
                name: told(part) if name == "rest" else part for name, part in found.groupdict().items()
            }
    if found := _PLACED.fullmatch(sentence):
        place = _places.get(found[1], found[1])
        if rest := in_words(found[2]):
            return f"{place}: {rest}"
    return ""


def all_told(errors: Mapping[str, Sequence[object]]) -> dict[str, list[str]]:
    return {field: [told(sentence) for sentence in sentences] for field, sentences in errors.items()}


register(KNOWN)
