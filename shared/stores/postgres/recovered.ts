import type { PostgresSettings } from '../settings.ts';
import { UNDOING } from '../sql/tables.ts';
import { alone } from './alone.ts';

/** Proofs that were used before are forgotten, and sessions beside the record are ended. */
export const RESTORED =
  'UPDATE record SET restored = ceil(1000 * extract(epoch FROM clock_timestamp()))';

/** Tables whose rows live for minutes, and let somebody in. */
const PASSING_UNDOING = ['passing_artefact', 'session'] as const;

/**
 * To be done after the operator has restored PostgreSQL itself to an earlier point: ends all that was issued, before that point or
 * since, so that nothing that was ended or spent since then counts. Rejects with `OpenElsewhere`.
 */
export const endAllIssued = (settings: PostgresSettings): Promise<void> =>
  alone(settings, async (client) => {
    await client.query(RESTORED);
    for (const table of [...UNDOING, ...PASSING_UNDOING]) {
      await client.query(`DELETE FROM ${table}`);
    }
  });
