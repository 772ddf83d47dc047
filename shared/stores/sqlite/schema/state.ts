import { STATE_EXPIRED } from '../../sql/expired.ts';
import type { Schema } from '../file/schema.ts';
import { STATE_TABLES } from '../../sql/tables.ts';

/** Bytes: with content of this length a commit is still cheaper than a file that is synced, and its folder. */
export const LONGEST_CONTENT = 16 * 1024;

/**
 * How many transactions changed something, the salt of the WAL of which damage was found last, and when the file was restored: what was
 * used before is forgotten.
 */
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
 * The tables whose rows must not be lost. They have the engine's artefacts, the short-lived ones too: a consumed code
 * or refresh token stays consumed when the power fails. Artefacts of `PASSING_KINDS` are in the other file. Times are
 * in milliseconds.
 */
export const STATE: Schema = {
  file: 'state.db',
  synchronous: 'FULL',
  isCounted: true,
  reserveFor: 'removals',
  migrations: [STATE_TABLES + TALLY],
  expired: STATE_EXPIRED,
};
