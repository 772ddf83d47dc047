import { INVALIDATION_LIFE } from '../../cache/invalidations.ts';
import { NEWS_LIFE } from '../../push/push.ts';
import type { Schema } from '../file/schema.ts';
import { STATE_TABLES } from '../../sql/tables.ts';

/** How many transactions changed something, and the salt of the WAL of which damage was found last. */
const TALLY = `
  CREATE TABLE tally (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    commits INTEGER NOT NULL,
    damaged TEXT
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
  expired: {
    artefact: { key: 'rowid', when: 'expires <= ?1' },
    invalidation: {
      key: 'seq',
      when: `seq <= (SELECT seq FROM invalidation WHERE at <= ?1 - ${INVALIDATION_LIFE} ORDER BY at DESC LIMIT 1)`,
    },
    push_message: { key: 'place', when: 'until <= ?1' },
    push_news: { key: 'place', when: `at <= ?1 - ${NEWS_LIFE}` },
    push_receipt: { key: 'place', when: 'until <= ?1' },
    push_receipts: { key: 'rowid', when: 'until <= ?1' },
    revocation: { key: 'rowid', when: 'until <= ?1' },
    spent_token: { key: 'digest', when: 'until <= ?1' },
  },
};
