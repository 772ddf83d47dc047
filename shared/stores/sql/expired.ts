import { INVALIDATION_LIFE } from '../cache/invalidations.ts';
import { NEWS_LIFE } from '../push/push.ts';

/** The rows of a table that may be deleted. */
export interface Expired {
  /** The column that names a row: `rowid`, or the primary key of a table without it. */
  readonly key: string;
  /** `?1` is now, in milliseconds since the epoch. */
  readonly when: string;
  /** Rows are deleted in the order of the key, so that no row between two others is missing. */
  readonly isInOrder?: true;
}

type OfTables = Readonly<Record<string, Expired>>;

/** The rows of the record that expire, by table. */
export const STATE_EXPIRED: OfTables = {
  artefact: { key: 'rowid', when: 'expires <= ?1' },
  invalidation: {
    key: 'seq',
    when: `seq <= (SELECT seq FROM invalidation WHERE at <= CAST(?1 AS BIGINT) - ${INVALIDATION_LIFE} ORDER BY at DESC LIMIT 1)`,
    isInOrder: true,
  },
  push_message: { key: 'place', when: 'until <= ?1' },
  push_news: { key: 'place', when: `at <= CAST(?1 AS BIGINT) - ${NEWS_LIFE}` },
  push_receipt: { key: 'place', when: 'until <= ?1' },
  push_receipts: { key: 'rowid', when: 'until <= ?1' },
  revocation: { key: 'rowid', when: 'until <= ?1' },
  spent_token: { key: 'digest', when: 'until <= ?1' },
};

/** The rows that live for minutes, by table. */
export const PASSING_EXPIRED: OfTables = {
  passing_artefact: { key: 'rowid', when: 'expires <= ?1' },
  replay: { key: 'rowid', when: 'expires <= ?1' },
  session: { key: 'rowid', when: 'expires <= ?1' },
  bucket: { key: 'rowid', when: 'full_at <= 1000.0 * ?1' },
  use_count: { key: 'rowid', when: 'expires <= ?1' },
  kept: { key: 'rowid', when: 'expires <= ?1' },
  cache_report: { key: 'rowid', when: 'expires <= ?1' },
};
