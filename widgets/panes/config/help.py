"""What the keys of config.md mean, in a sentence or two each."""

from __future__ import annotations

HELP = {
    "timezone": "The zone of times that are written without one: an IANA name such as Europe/Berlin. Without it the "
    "machine's zone counts.",
    "journalTaskChanges": "Whether starting, finishing and reopening a task writes an entry into the journal.",
    "reapplyUndone": "Whether changes that another program's save took back are brought back by themselves.",
    "knowledgeStaleAfterDays": "After how many days Knowledge calls something stale: what has an older date, or "
    "no date in a file that was not changed since. 0 is never; without it 180.",
    "expression": "When the heartbeat looks at the tasks: a cron expression.",
    "cronJobId": "The cron job that this belongs to.",
    "projectId": "The project that the heartbeat works in.",
    "target": "Where notifications go when nothing else says so.",
    "channelId": "The channel that notifications go to: an ID from Contacts.",
    "priority": "How urgent a notification is when nothing else says so: low, normal or high.",
    "primaryChannel": "The channel that agents talk through first: an ID from Contacts.",
    "secondaryChannel": "The channel that is used when the first does not answer: an ID from Contacts.",
    "archiveCompletedAfterDays": "Tasks that were completed more than so many days ago move to the archive.",
    "pruneJournalAfterDays": "Journal entries that are more than so many days old move to the archive.",
    "maxJournalEntries": "How many entries the journal keeps; the oldest ones beyond that move to the archive.",
    "maintenanceSchedule": "When an open memdeck runs the maintenance: a cron expression. Without it, only when asked.",
    "setupComplete": "Whether the agents' first setup is done.",
    "setupDate": "When the agents' first setup was done.",
}
"""A sentence by key; a key without one belongs to whoever wrote it."""

UNKNOWN = "memdeck does not know this key. It is kept as it stands."
"""What is said of every other key."""
