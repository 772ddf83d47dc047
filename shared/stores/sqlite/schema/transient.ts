import type { Schema } from '../file/schema.ts';

/** The tables whose rows live for minutes and are written by requests, also by those of strangers. Keys are SHA-256 digests. */
export const TRANSIENT: Schema = {
  file: 'transient.db',
  synchronous: 'NORMAL',
  reserveFor: 'all',
  migrations: [
    `CREATE TABLE replay (
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
       id TEXT PRIMARY KEY,
       owner BLOB NOT NULL,
       value TEXT NOT NULL,
       expires INTEGER NOT NULL
     ) STRICT;
     CREATE INDEX kept_owner ON kept (owner);
     CREATE INDEX kept_expires ON kept (expires);

     CREATE TABLE artefact (
       kind TEXT NOT NULL,
       id TEXT NOT NULL,
       payload TEXT NOT NULL,
       grant_id TEXT,
       uid TEXT,
       user_code TEXT,
       account_id TEXT,
       consumed INTEGER,
       attempt TEXT,
       expires INTEGER,
       PRIMARY KEY (kind, id)
     ) STRICT;
     CREATE INDEX artefact_grant_id ON artefact (grant_id) WHERE grant_id IS NOT NULL;
     CREATE INDEX artefact_uid ON artefact (kind, uid) WHERE uid IS NOT NULL;
     CREATE INDEX artefact_expires ON artefact (expires) WHERE expires IS NOT NULL;

     CREATE TABLE cache_report (
       process TEXT PRIMARY KEY,
       report TEXT NOT NULL,
       expires INTEGER NOT NULL
     ) STRICT;`,
  ],
  expired: {
    artefact: { key: 'rowid', when: 'expires <= ?1' },
    replay: { key: 'rowid', when: 'expires <= ?1' },
    session: { key: 'rowid', when: 'expires <= ?1' },
    bucket: { key: 'rowid', when: 'full_at <= 1000 * ?1' },
    use_count: { key: 'rowid', when: 'expires <= ?1' },
    kept: { key: 'rowid', when: 'expires <= ?1' },
    cache_report: { key: 'rowid', when: 'expires <= ?1' },
  },
};
