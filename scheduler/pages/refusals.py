"""What the verbs of schedules, workflows and steps refuse, for jobs/pages/refusals.py to tell."""

from django.utils.translation import gettext_lazy as _

from jobs.display import Text
from jobs.pages.refusals import Known

KNOWN: tuple[Known, ...] = (
    (r"A time is needed, such as .*", _("A time is needed, such as 2026-12-01T09:00.")),
    (r"The workflow has no steps to run\.", _("The workflow has no steps to run.")),
    (r"A run that is \w+ cannot be resumed\.", _("Only a failed or cancelled run can go on.")),
    (r"A schedule of the kind \w+ needs it\.", _("It is needed.")),
    (
        r"'(?P<name>.*)' is not a time zone; give a name such as Asia/Seoul\.",
        _("'%(name)s' is not a time zone; give a name such as Asia/Seoul."),
    ),
    (
        r"(It is refused: )?the time does not lie between 1970 and 2200\.",
        _("The time does not lie between 1970 and 2200."),
    ),
    (r"It lies before starts_at\.", _("It lies before the start.")),
    (r"It lies in the past\.", _("It lies in the past.")),
    (r"The schedule would never fire\.", _("So it would never run.")),
    (r"Its time has passed; it would never run\.", _("Its time has passed; it would never run.")),
    (r"The previous Execution had not ended\.", _("The run before it had not ended.")),
    (
        r"(?P<failed>\d+) of (?P<total>\d+) steps failed\. (?P<first>.*) (?P<blocked>\d+) more wait for it\.",
        _("%(failed)s of %(total)s steps failed. %(first)s %(blocked)s more wait for it."),
    ),
    (
        r"(?P<failed>\d+) of (?P<total>\d+) steps failed\. (?P<first>.*)",
        _("%(failed)s of %(total)s steps failed. %(first)s"),
    ),
    (
        r"(?P<cancelled>\d+) of (?P<total>\d+) steps were cancelled\.",
        _("%(cancelled)s of %(total)s steps were cancelled."),
    ),
    (r"The run's jobs were deleted\.", _("The jobs of this run were deleted.")),
    (r"A later turn was due as well\.", _("A later turn was due as well.")),
    (r"It was more than (?P<seconds>\d+) s late\.", _("It was more than %(seconds)s s late.")),
    (r"An active workflow needs one\.", _("An active workflow needs at least one step.")),
    (
        r"It belongs to the weekly pattern, which needs at least one day\.",
        _("Choose at least one day of the week."),
    ),
    (
        r"It belongs to the monthly pattern, which needs it\.",
        _("Say on which day of the month."),
    ),
    (
        r"'(?P<text>.*)' is not a time from 00:00 to 23:59, written like 09:00\.",
        _("'%(text)s' is not a time from 00:00 to 23:59, written like 09:00."),
    ),
    (r"There is no step '(?P<name>.*)'\.", _("There is no step '%(name)s'.")),
    (r"The ref '(?P<name>.*)' is used twice\.", _("The ref '%(name)s' is used twice.")),
    (r"A job cannot depend on itself\.", _("A step cannot depend on itself.")),
    (r"Names a dependency twice\.", _("It names a dependency twice.")),
    (
        r"\d+ jobs depend on each other in a circle: (?P<members>.*)",
        _("Steps depend on each other in a circle: %(members)s"),
    ),
    (r"Expected a list of jobs\.", _("A list of steps is needed here: [{…}, …].")),
    (
        r"The expression has (?P<n>\d+) characters; at most (?P<most>\d+) are allowed\.",
        _("The expression has %(n)s characters; at most %(most)s are allowed."),
    ),
    (
        r"The expression has (?P<n>\d+) fields; five are expected: [^.]*\. A field of seconds .*",
        _(
            "The expression has %(n)s fields; five are expected. One of seconds is not: an interval can run"
            " more often than once a minute."
        ),
    ),
    (
        r"The expression has (?P<n>\d+) fields; five are expected: .*",
        _("The expression has %(n)s fields; five are expected: minute, hour, day, month, day of the week."),
    ),
    (
        r"'(?P<word>.*)' is not known; the short forms are (?P<allowed>.*)\.",
        _("'%(word)s' is not known; the short forms are %(allowed)s."),
    ),
    (
        r"day-of-month, month and day-of-week: no day fits '(?P<days>.*)' within .*",
        _("No day fits '%(days)s' within the next 5 years, so it would never run."),
    ),
    (
        r"'\*' in the list '(?P<word>.*)' already means every value\.",
        _("'*' in the list '%(word)s' already means every value."),
    ),
    (
        r"the range '(?P<span>.*)' runs backwards; write it as two in a list\.",
        _("the range '%(span)s' runs backwards; write it as two in a list."),
    ),
    (
        r"'(?P<term>.*)' has no whole number after the '/'\.",
        _("'%(term)s' has no whole number after the '/'."),
    ),
    (
        r"the step (?P<step>.*) in '(?P<term>.*)' is not between 1 and (?P<most>\d+)\.",
        _("the step %(step)s in '%(term)s' is not between 1 and %(most)s."),
    ),
    (
        r"'(?P<text>.*)' in '(?P<word>.*)' is not understood; allowed: (?P<allowed>.*)\.",
        _("'%(text)s' in '%(word)s' is not understood; allowed: %(allowed)s."),
    ),
    (
        r"'(?P<word>.*)' is not understood; allowed: (?P<allowed>.*)\.",
        _("'%(word)s' is not understood; allowed: %(allowed)s."),
    ),
    (
        r"(?P<number>\d+) is out of range; allowed: (?P<allowed>.*)\.",
        _("%(number)s is out of range; allowed: %(allowed)s."),
    ),
    (r"Expected an object, or '(?P<empty>.*)'\.", _("An object is needed here: {…}.")),
    (
        r"There is no library '(?P<name>.*)'; there are: (?P<known>.*)\.",
        _("There is no library %(name)s; there are: %(known)s."),
    ),
    (r"A queue has at most (?P<most>\d+) jobs\.", _("A queue has at most %(most)s jobs.")),
)
FIELDS: dict[str, Text] = {
    "minute": _("minute"),
    "hour": _("hour"),
    "day-of-month": _("day of the month"),
    "month": _("month"),
    "day-of-week": _("day of the week"),
}
