import type { ClientBase } from 'pg';
import { type Clock, systemClock } from '#shared/base/clock.ts';
import type { PostgresSettings } from '../settings.ts';
import { UNDOING } from '../sql/tables.ts';
import { alone } from './alone.ts';

/**
 * Proofs that were used before are forgotten, and sessions beside the record are ended. Of two clocks the later one counts: one
 * that is behind would let proofs in that were used before.
 */
export const markRestored = (client: ClientBase, { now }: Pick<Clock, 'now'>): Promise<unknown> =>
  client.query(
    'UPDATE record SET restored = ceil(greatest($1, 1000 * extract(epoch FROM clock_timestamp())))',
    [now()],
  );

/** Tables whose rows live for minutes, and let somebody in. */
const PASSING_UNDOING = ['passing_artefact', 'session'] as const;

/**
 * To be done after the operator has restored PostgreSQL itself to an earlier point: ends all that was issued, before that point or
 * since, so that nothing that was ended or spent since then counts. Rejects with `OpenElsewhere`.
 */
export const endAllIssued = (
  settings: PostgresSettings,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<void> =>
  alone(settings, async (client) => {
    await markRestored(client, clock);
    for (const table of [...UNDOING, ...PASSING_UNDOING]) {
      await client.query(`DELETE FROM ${table}`);
    }
  });
