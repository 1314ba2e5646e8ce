"""What is said of replays that cannot be used and of failed exports, for jobs/pages/refusals.py to tell."""

from django.utils.translation import gettext_lazy as _

from jobs.pages.refusals import Known

KNOWN: tuple[Known, ...] = (
    (r"Line (?P<line>\d+):? (?P<rest>.*)", _("Line %(line)s: %(rest)s")),
    (r"player (?P<number>\d+):? (?P<rest>.*)", _("player %(number)s: %(rest)s")),
    (r"team (?P<number>\d+):? (?P<rest>.*)", _("team %(number)s: %(rest)s")),
    (
        r"The event log is empty: its first line must be the header\.",
        _("The event log is empty: its first line must be the header."),
    ),
    (
        r"The event log has a header but no records\.",
        _("The event log has a header but no records."),
    ),
    (r"The event log has no moments to show\.", _("The event log has no moments to show.")),
    (
        r"The event log has more than (?P<most>\d+) records\.",
        _("The event log has more than %(most)s records."),
    ),
    (
        r"Tick (?P<tick>\d+) has more than (?P<most>\d+) events\.",
        _("Tick %(tick)s has more than %(most)s events."),
    ),
    (
        r"The file is neither an event log nor an? (?P<kinds>.*) video\.",
        _("The file is neither an event log nor a video (%(kinds)s)."),
    ),
    # What follows a line's number.
    (r"is not JSON\.", _("this is not JSON.")),
    (r"must be a JSON object\.", _("an object of JSON is needed: {…}.")),
    (
        r'must be the header, with "format": "(?P<format>.*)"\.',
        _('it must be the header, with "format": "%(format)s".'),
    ),
    (r"must hold positions or an event\.", _("it must hold positions or an event.")),
    (r"is longer than (?P<most>\d+) bytes\.", _("it is longer than %(most)s bytes.")),
    (
        r"size must be \[width, height\] of the arena\.",
        _("size must be [width, height] of the arena."),
    ),
    (
        r"the arena must not be more than ten times as long as wide\.",
        _("the arena must not be more than ten times as long as wide."),
    ),
    (r"teams must be a list of at most (?P<most>\d+)\.", _("teams must be a list of at most %(most)s.")),
    (r"players must be a list of 1 to (?P<most>\d+)\.", _("players must be a list of 1 to %(most)s.")),
    (r"must be an object with id, name and color\.", _("it must be an object with id, name and color.")),
    (r"the id (?P<id>.*) is taken\.", _("the id %(id)s is taken.")),
    (
        r"id must be 1 to (?P<most>\d+) letters, digits, dots, dashes or underscores\.",
        _("id must be 1 to %(most)s letters, digits, dots, dashes or underscores."),
    ),
    (r"color must look like (?P<color>.*)\.", _("color must look like %(color)s.")),
    (r"there is no such team\.", _("there is no such team.")),
    (r"there is no such player\.", _("there is no such player.")),
    (r"a position must be \[x, y\]\.", _("a position must be [x, y].")),
    (
        r"a position must be two numbers within a million of the origin\.",
        _("a position must be two numbers within a million of the origin."),
    ),
    (
        r"score must be an object of the teams' \(or players'\) points\.",
        _("score must be an object of the points of teams (or players)."),
    ),
    (
        r"tick (?P<tick>\d+) comes after tick (?P<last>\d+)\.",
        _("tick %(tick)s comes after tick %(last)s."),
    ),
    (
        r"the replay is longer than (?P<minutes>\d+) minutes\.",
        _("the replay is longer than %(minutes)s minutes."),
    ),
    (
        r"(?P<name>\w+) must be a number from (?P<low>[\d.-]+) to (?P<high>[\d.]+)\.",
        _("%(name)s must be a number from %(low)s to %(high)s."),
    ),
    (
        r"(?P<name>\w+) must be a whole number from (?P<low>-?\d+) to (?P<high>\d+)\.",
        _("%(name)s must be a whole number from %(low)s to %(high)s."),
    ),
    (r"(?P<name>\w+) must be a text\.", _("%(name)s must be a text.")),
    (
        r"(?P<name>\w+) is longer than (?P<most>\d+) characters\.",
        _("%(name)s is longer than %(most)s characters."),
    ),
    # Videos.
    (r"The file has no video in it\.", _("The file has no video in it.")),
    (r"The video has no pictures\.", _("The video has no pictures.")),
    (
        r"The video's codec is not one of (?P<known>.*)\.",
        _("The codec of the video is not one of these: %(known)s."),
    ),
    (
        r"The video is longer than (?P<minutes>\d+) minutes\.",
        _("The video is longer than %(minutes)s minutes."),
    ),
    (
        r"A picture of (?P<size>\S+) is above the limit of (?P<most>\d+) pixels\.",
        _("A picture of %(size)s is above the limit of %(most)s pixels."),
    ),
    (
        r"The film would become larger than (?P<most>\d+) GiB\.",
        _("The film would become larger than %(most)s GiB."),
    ),
    (
        r"The video needs more than (?P<most>\d+) MiB of memory to be read\. .*",
        _(
            "The video needs more than %(most)s MiB of memory to be read. Its pictures are too large, or its"
            " encoder made them refer to too many others."
        ),
    ),
    (
        r"The video's pictures are too large, or it is too long for pictures of that size\.",
        _("The pictures of the video are too large, or it is too long for pictures of that size."),
    ),
    (r"The video takes too long to be read\.", _("The video takes too long to be read.")),
    (
        r"The video cannot be read: its decoder crashed \((?P<signal>.*)\)\.",
        _("The video cannot be read: its decoder crashed (%(signal)s)."),
    ),
    (
        r"The video cannot be read to its end: (?P<why>.*)",
        _("The video cannot be read to its end: %(why)s"),
    ),
    (r"The video cannot be read: (?P<why>.*)", _("The video cannot be read: %(why)s")),
    # What ended an export otherwise.
    (
        r"No space is left for the export\. .*",
        _("No space is left for the export. Free some, then ask for it again."),
    ),
    (r"The replay's file is gone\. .*", _("The file of the replay is gone. Upload it again.")),
    (
        r"Nothing was heard from the worker for (?P<seconds>\d+) s\. .*",
        _("Nothing was heard from the worker for %(seconds)s s. Ask for the export again."),
    ),
    (
        r"The export took too long and was stopped\. .*",
        _("The export took too long and was stopped. A shorter replay may succeed."),
    ),
    (
        r"Its worker died while making it\. .*",
        _("Its worker died while making it. Ask for the export again."),
    ),
    (r"The renderer failed: (?P<why>.*)", _("The renderer failed: %(why)s")),
    (
        r"The worker named a file that is not this job's own\.",
        _("The worker named a file that is not of this export."),
    ),
    (
        r"The worker named a file that does not exist\.",
        _("The worker named a file that does not exist."),
    ),
    (r"The worker named a bad place\. (?P<why>.*)", _("The worker named a bad place. %(why)s")),
    (
        r"The file that the worker named cannot be read: (?P<why>.*)\.",
        _("The file that the worker named cannot be read: %(why)s."),
    ),
)
