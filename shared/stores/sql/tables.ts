import { PUSH_TABLES } from './push/tables.ts';
import { TREE_TABLES } from './trees/tables.ts';

/** One of the two tables of artefacts. Only writes to `artefact` wait for the disk. */
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
 * The tables of the record, version 1, without trees and the push service, with the types of SQLite
 * (`postgres/schema.ts` has those of PostgreSQL). This text never changes; a later version appends a migration.
 */
const RECORD_TABLES = `
  CREATE TABLE epoch (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL) STRICT;
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
  CREATE TABLE settled (one INTEGER PRIMARY KEY CHECK (one = 1), epoch TEXT NOT NULL) STRICT;

  CREATE TABLE person (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE person_alias (alias TEXT PRIMARY KEY, id TEXT NOT NULL) STRICT, WITHOUT ROWID;
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

  CREATE TABLE client (client_id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
  -- Clients by the fingerprints of their keys, and by the words of their names.
  CREATE TABLE client_search_key (
    key TEXT NOT NULL,
    client_id TEXT NOT NULL,
    PRIMARY KEY (key, client_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX client_search_key_client ON client_search_key (client_id);
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
  CREATE TABLE spent_token (digest BLOB PRIMARY KEY, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
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
    account_id TEXT NOT NULL,
    record TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX outbox_due ON outbox (due, id);
  CREATE INDEX outbox_account ON outbox (account_id, id);
  -- Applications that are to be told of an end: of one browser (uid), or of all of a person, or of all people.
  CREATE TABLE logout (
    id TEXT PRIMARY KEY,
    client_id TEXT NOT NULL,
    account_id TEXT,
    uid TEXT,
    due INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    created INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX logout_due ON logout (client_id, due, id);
  CREATE INDEX logout_created ON logout (created);
  CREATE INDEX logout_account ON logout (account_id) WHERE account_id IS NOT NULL;
  CREATE TABLE declared (kind TEXT, id TEXT, PRIMARY KEY (kind, id)) STRICT, WITHOUT ROWID;
  -- When the last good backup was made: one row, or none.
  CREATE TABLE last_backup (one INTEGER PRIMARY KEY CHECK (one = 1), at INTEGER NOT NULL) STRICT;

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
`;

/** All tables of the record. */
export const STATE_TABLES = RECORD_TABLES + TREE_TABLES + PUSH_TABLES;

/** The tables whose rows live for minutes, version 1. This text never changes. Keys are SHA-256 digests. */
export const PASSING_TABLES = `
  CREATE TABLE replay (key BLOB PRIMARY KEY, expires INTEGER NOT NULL) STRICT;
  CREATE INDEX replay_expires ON replay (expires);

  CREATE TABLE session (id TEXT PRIMARY KEY, value TEXT NOT NULL, expires INTEGER NOT NULL) STRICT;
  CREATE INDEX session_expires ON session (expires);

  -- full_at: when the bucket is full again, in microseconds (GCRA's theoretical arrival time).
  CREATE TABLE bucket (key BLOB PRIMARY KEY, full_at REAL NOT NULL) STRICT;
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

/** Tables whose older rows would undo revocations. No backup has them; damage of the store empties them. */
export const UNDOING = ['epoch', 'artefact', 'invalidation', 'followed', 'settled'] as const;
