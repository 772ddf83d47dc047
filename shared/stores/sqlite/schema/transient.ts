import { PASSING_EXPIRED } from '../../sql/expired.ts';
import { PASSING_TABLES } from '../../sql/tables.ts';
import type { Schema } from '../file/schema.ts';

/** The tables whose rows live for minutes, and which unauthenticated requests may write. Keys are SHA-256 digests. */
export const TRANSIENT: Schema = {
  file: 'transient.db',
  synchronous: 'NORMAL',
  reserveFor: 'all',
  migrations: [PASSING_TABLES],
  expired: PASSING_EXPIRED,
};
