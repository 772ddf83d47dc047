import type { ClientBase } from 'pg';
import { type Clock, systemClock } from '#shared/base/clock.ts';
import type { PostgresSettings } from '../settings.ts';
import { UNDOING } from '../sql/tables.ts';
import { alone } from './alone.ts';

/** Marks that earlier proofs are forgotten, and ends sessions in Redis. Takes the later of two clocks. */
export const markRestored = (client: ClientBase, { now }: Pick<Clock, 'now'>): Promise<unknown> =>
  client.query(
    'UPDATE record SET restored = ceil(greatest($1, 1000 * extract(epoch FROM clock_timestamp())))',
    [now()],
  );

/** Tables of short-lived rows by which a client is authenticated. */
const PASSING_UNDOING = ['passing_artefact', 'session'] as const;

/** Ends everything that was issued, after PostgreSQL was restored to an earlier point. Rejects with `OpenElsewhere`. */
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
