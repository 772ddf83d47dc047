import { PASSING_TABLES } from '../../sql/tables.ts';
import type { Schema } from '../file/schema.ts';

/** The tables whose rows live for minutes and are written by requests, also by those of strangers. Keys are SHA-256 digests. */
export const TRANSIENT: Schema = {
  file: 'transient.db',
  synchronous: 'NORMAL',
  reserveFor: 'all',
  migrations: [PASSING_TABLES],
  expired: {
    passing_artefact: { key: 'rowid', when: 'expires <= ?1' },
    replay: { key: 'rowid', when: 'expires <= ?1' },
    session: { key: 'rowid', when: 'expires <= ?1' },
    bucket: { key: 'rowid', when: 'full_at <= 1000 * ?1' },
    use_count: { key: 'rowid', when: 'expires <= ?1' },
    kept: { key: 'rowid', when: 'expires <= ?1' },
    cache_report: { key: 'rowid', when: 'expires <= ?1' },
  },
};
