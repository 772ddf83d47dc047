import type { PostgresSettings } from '../settings.ts';
import { UNDOING } from '../sql/tables.ts';
import { alone } from './alone.ts';

/** Tables whose rows live for minutes, and let somebody in. */
const PASSING_UNDOING = ['passing_artefact', 'session'] as const;

/**
 * To be done after the operator has restored PostgreSQL itself to an earlier point: ends all that was issued, before that point or
 * since, so that nothing that was ended or spent since then counts. Rejects with `OpenElsewhere`.
 */
export const endAllIssued = (settings: PostgresSettings): Promise<void> =>
  alone(settings, async (client) => {
    for (const table of [...UNDOING, ...PASSING_UNDOING]) {
      await client.query(`DELETE FROM ${table}`);
    }
  });
