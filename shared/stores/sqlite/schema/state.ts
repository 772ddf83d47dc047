import { PASSING_EXPIRED, STATE_EXPIRED } from '../../sql/expired.ts';
import type { Schema } from '../file/schema.ts';
import { PASSING_TABLES, STATE_TABLES } from '../../sql/tables.ts';

/** Bytes: up to this length a row is cheaper than a file that is synced with its folder. */
export const LONGEST_CONTENT = 16 * 1024;

/** The number of commits, the salt of the last damaged WAL, and the restore before which uses are forgotten. */
const TALLY = `
  CREATE TABLE tally (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    commits INTEGER NOT NULL,
    damaged TEXT,
    restored INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO tally (one, commits) VALUES (1, 0);
`;

/**
 * The tables whose rows must not be lost, with the engine's artefacts: a used code or refresh token stays used after a
 * power cut. Artefacts of `PASSING_KINDS` are in the other file. Times are in milliseconds.
 */
export const STATE: Schema = {
  file: 'state.db',
  synchronous: 'FULL',
  isCounted: true,
  reserveFor: 'removals',
  migrations: [STATE_TABLES + TALLY],
  expired: STATE_EXPIRED,
};

/** The tables whose rows live for minutes, and which unauthenticated requests may write. Keys are SHA-256 digests. */
export const TRANSIENT: Schema = {
  file: 'transient.db',
  synchronous: 'NORMAL',
  reserveFor: 'all',
  migrations: [PASSING_TABLES],
  expired: PASSING_EXPIRED,
};
