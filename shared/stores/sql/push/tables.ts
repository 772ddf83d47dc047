/** The tables of the push service, version 1 (`../tables.ts`). */
export const PUSH_TABLES = `
  CREATE TABLE push_subscription (
    id TEXT PRIMARY KEY,
    push TEXT NOT NULL UNIQUE,
    person TEXT NOT NULL,
    created INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX push_subscription_person ON push_subscription (person, created, id);
  -- AUTOINCREMENT: the place of a message is never that of another. record: what nobody looks for.
  CREATE TABLE push_message (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    subscription TEXT NOT NULL,
    topic TEXT,
    urgency INTEGER NOT NULL,
    until INTEGER NOT NULL,
    record TEXT NOT NULL,
    body BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX push_message_topic ON push_message (subscription, topic) WHERE topic IS NOT NULL;
  CREATE INDEX push_message_subscription ON push_message (subscription, place);
  CREATE INDEX push_message_until ON push_message (until);
  CREATE TABLE push_receipts (
    id TEXT PRIMARY KEY,
    subscription TEXT NOT NULL,
    until INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX push_receipts_subscription ON push_receipts (subscription, until);
  CREATE INDEX push_receipts_until ON push_receipts (until);
  -- outcome: null as long as the message waits.
  CREATE TABLE push_receipt (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    message TEXT NOT NULL UNIQUE,
    receipts TEXT NOT NULL,
    outcome TEXT,
    until INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX push_receipt_receipts ON push_receipt (receipts, place);
  CREATE INDEX push_receipt_until ON push_receipt (until);
  CREATE TABLE push_news (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    about TEXT NOT NULL,
    at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX push_news_at ON push_news (at);
`;
