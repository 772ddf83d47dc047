/** The tables of artefacts, which wait for the disk or not. */
const artefacts = (table: string) => `
  CREATE TABLE ${table} (
    -- The order in which they were put.
    place INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    payload TEXT NOT NULL,
    grant_id TEXT,
    uid TEXT,
    user_code TEXT,
    account_id TEXT,
    client_id TEXT,
    consumed INTEGER,
    -- Names the use of a consumed artefact until its result is out.
    attempt TEXT,
    expires INTEGER,
    UNIQUE (kind, id)
  ) STRICT;
  CREATE INDEX ${table}_grant_id ON ${table} (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX ${table}_uid ON ${table} (kind, uid) WHERE uid IS NOT NULL;
  CREATE INDEX ${table}_user_code ON ${table} (kind, user_code) WHERE user_code IS NOT NULL;
  CREATE INDEX ${table}_expires ON ${table} (expires) WHERE expires IS NOT NULL;`;

/**
 * The tables of the record, version 1, with the types of SQLite (`postgres/schema.ts` has those of PostgreSQL). A later version
 * appends a migration, and this stays as it is.
 */
export const STATE_TABLES = `
  CREATE TABLE epoch (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    id TEXT NOT NULL
  ) STRICT;
  CREATE TABLE generation (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID;
  -- AUTOINCREMENT: a seq that was swept is never given again, so no feed has it behind its cursor.
  CREATE TABLE revocation (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('token', 'grant', 'key', 'person', 'client')),
    id TEXT NOT NULL,
    generation INTEGER CHECK ((generation IS NOT NULL) = (kind IN ('person', 'client'))),
    until INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX revocation_until ON revocation (until);
  CREATE TABLE followed (
    id TEXT PRIMARY KEY,
    confirmed INTEGER NOT NULL,
    lease INTEGER NOT NULL,
    beat INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Of the memory with this epoch; '' of one that has none yet.
  CREATE TABLE settled (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    epoch TEXT NOT NULL
  ) STRICT;

  CREATE TABLE person (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE person_alias (
    alias TEXT PRIMARY KEY,
    id TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX person_alias_id ON person_alias (id);
  CREATE TABLE person_search_key (
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (key, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX person_search_key_id ON person_search_key (id);
  -- Groups and states of people, by name.
  CREATE TABLE person_list (
    list TEXT NOT NULL,
    name TEXT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (list, name)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX person_list_id ON person_list (id);
  CREATE TABLE person_verifier (
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    realm TEXT NOT NULL,
    value TEXT NOT NULL,
    handle TEXT,
    PRIMARY KEY (id, realm, kind)
  ) STRICT, WITHOUT ROWID;
  CREATE UNIQUE INDEX person_handle ON person_verifier (handle, realm, kind) WHERE handle IS NOT NULL;
  -- Names of people who were removed.
  CREATE TABLE former_name (digest BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
  CREATE TABLE passkey (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    created INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX passkey_person ON passkey (person, created, id);
  CREATE TABLE second_factor (person TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE api_key (
    id TEXT PRIMARY KEY,
    application TEXT NOT NULL,
    created INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX api_key_place ON api_key (application, created, id);
  CREATE TABLE public_key (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    created INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX public_key_owner ON public_key (owner, created, id);

  CREATE TABLE client (
    client_id TEXT PRIMARY KEY,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Clients by the fingerprints of their keys.
  CREATE TABLE client_key (
    key TEXT NOT NULL,
    client_id TEXT NOT NULL,
    PRIMARY KEY (key, client_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX client_key_client ON client_key (client_id);
${artefacts('artefact')}
  -- In the order in which an account's are listed.
  CREATE INDEX artefact_account ON artefact (kind, account_id, coalesce(expires, 9007199254740991))
    WHERE account_id IS NOT NULL;
  -- Grants and consents of a client, those that live longest first.
  CREATE INDEX artefact_client
    ON artefact (kind, client_id, coalesce(expires, 9007199254740991), id)
    WHERE kind IN ('Access', 'Consent');

  CREATE TABLE key (
    kid TEXT PRIMARY KEY,
    alg TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE gateway_key (
    kid TEXT PRIMARY KEY,
    alg TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE token_key (
    seq INTEGER PRIMARY KEY,
    type INTEGER NOT NULL,
    truncated_id INTEGER NOT NULL,
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    UNIQUE (type, truncated_id)
  ) STRICT;
  -- WITHOUT ROWID: rowids would tell the order in which tokens were redeemed.
  CREATE TABLE spent_token (
    digest BLOB PRIMARY KEY,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX spent_token_until ON spent_token (until);

  -- What was committed and is in no link of the chain yet.
  CREATE TABLE audit_open (seq INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
  CREATE TABLE audit (seq INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
  CREATE TABLE audit_key (key TEXT, seq INTEGER, PRIMARY KEY (key, seq)) STRICT, WITHOUT ROWID;
  CREATE TABLE audit_link (
    number INTEGER PRIMARY KEY,
    before TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    at INTEGER NOT NULL,
    oldest INTEGER NOT NULL,
    mac TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_link_at ON audit_link (at, number);
  CREATE TABLE audit_refusal (
    hour INTEGER,
    person TEXT,
    count INTEGER NOT NULL,
    PRIMARY KEY (hour, person)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE outbox (
    id TEXT PRIMARY KEY,
    due INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX outbox_due ON outbox (due, id);
  CREATE TABLE declared (kind TEXT, id TEXT, PRIMARY KEY (kind, id)) STRICT, WITHOUT ROWID;
  -- When the last good backup was made: one row, or none.
  CREATE TABLE last_backup (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL) STRICT;

  -- A resource has the id of the collection that it is in: 0 in the root; -1 where it waits to be removed with all that is
  -- below it, and -2 where it is a copy that is being made. The root is in itself, without a name.
  CREATE TABLE resource (
    id INTEGER PRIMARY KEY,
    tree TEXT NOT NULL,
    parent INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('document', 'collection')),
    revision TEXT NOT NULL,
    etag TEXT CHECK ((etag IS NOT NULL) = (kind = 'document')),
    type TEXT CHECK ((type IS NOT NULL) = (kind = 'document')),
    length INTEGER CHECK ((length IS NOT NULL) = (kind = 'document')),
    created INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    file TEXT CHECK ((file IS NOT NULL) = (kind = 'document')),
    -- Of content and properties.
    bytes INTEGER NOT NULL,
    -- By which edit of the tree it was put, or came to where it is; of a collection, by which it came, and when: what is
    -- below it was modified then, unless a later edit has changed it.
    changed INTEGER NOT NULL DEFAULT 0,
    arrived INTEGER NOT NULL DEFAULT 0,
    arrived_at INTEGER NOT NULL DEFAULT 0,
    properties TEXT NOT NULL,
    UNIQUE (tree, parent, name)
  ) STRICT;
  CREATE INDEX resource_file ON resource (tree, file) WHERE file IS NOT NULL;
  CREATE INDEX resource_detached ON resource (id) WHERE parent = -1;
  -- What is below a collection, and bytes of the longest path from it, at least.
  CREATE TABLE collection (
    id INTEGER PRIMARY KEY,
    bytes INTEGER NOT NULL DEFAULT 0,
    properties INTEGER NOT NULL DEFAULT 0,
    entries INTEGER NOT NULL DEFAULT 0,
    longest INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE TABLE tree (
    name TEXT PRIMARY KEY,
    locks_version INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    -- Of dead properties alone.
    properties INTEGER NOT NULL DEFAULT 0,
    -- Another one with each commit.
    version TEXT,
    edits INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE tree_lock (
    tree TEXT NOT NULL,
    token TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (tree, token)
  ) STRICT, WITHOUT ROWID;
  -- What each version of a tree's locks has changed, for the last of them.
  CREATE TABLE tree_lock_change (
    tree TEXT NOT NULL,
    version INTEGER NOT NULL,
    root TEXT NOT NULL,
    PRIMARY KEY (tree, version, root)
  ) STRICT, WITHOUT ROWID;
  -- Copies that are being made: their row, that of what they are of, and the room that they have taken in their tree.
  CREATE TABLE tree_copy (
    token TEXT PRIMARY KEY,
    id INTEGER NOT NULL,
    tree TEXT NOT NULL,
    source INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    properties INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    broken INTEGER NOT NULL DEFAULT 0,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- Of documents whose content is short, apart from the rows that name it: those are read more often.
  CREATE TABLE content (
    tree TEXT NOT NULL,
    file TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (tree, file)
  ) STRICT;

  -- AUTOINCREMENT, as above. The oldest go first, so that nothing is missing between two that are kept.
  CREATE TABLE invalidation (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    space TEXT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    soft INTEGER NOT NULL,
    at INTEGER NOT NULL,
    -- Octets of the values up to this one, of those that were kept then.
    written INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX invalidation_kind ON invalidation (kind, seq);
  CREATE INDEX invalidation_at ON invalidation (at);
  CREATE INDEX invalidation_written ON invalidation (written);

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

/** The tables whose rows live for minutes, version 1, in the same way. Keys are SHA-256 digests. */
export const PASSING_TABLES = `
  CREATE TABLE replay (
    key BLOB PRIMARY KEY,
    expires INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX replay_expires ON replay (expires);

  CREATE TABLE session (
    id TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX session_expires ON session (expires);

  -- full_at: when the bucket is full again, in microseconds (GCRA's theoretical arrival time).
  CREATE TABLE bucket (
    key BLOB PRIMARY KEY,
    full_at REAL NOT NULL
  ) STRICT;
  CREATE INDEX bucket_full_at ON bucket (full_at);

  -- used: which of the 128 counts up to the highest were used, as a decimal number of 128 bits.
  CREATE TABLE use_count (
    key BLOB PRIMARY KEY,
    highest INTEGER NOT NULL,
    used TEXT NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX use_count_expires ON use_count (expires);

  CREATE TABLE kept (
    place INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner BLOB NOT NULL,
    value TEXT NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX kept_owner ON kept (owner);
  CREATE INDEX kept_expires ON kept (expires);

${artefacts('passing_artefact')}

  CREATE TABLE cache_report (
    process TEXT PRIMARY KEY,
    report TEXT NOT NULL,
    expires INTEGER NOT NULL
  ) STRICT;
`;

/**
 * Tables whose older rows would undo what was ended since: they are in no backup, and go when a store has lost something.
 * Without the epoch every token issued before is refused.
 */
export const UNDOING = ['epoch', 'artefact', 'invalidation', 'followed', 'settled'] as const;
