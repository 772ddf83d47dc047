import type { Audit } from '#shared/stores/audit/audit.ts';
import { type Commands, script } from '../connection/connection.ts';
import { firstOpen, partsOf, type Positions } from './open-entries.ts';
import type { AuditStreams } from './streams.ts';

const append = script(`
for _, text in ipairs(ARGV) do redis.call('XADD', KEYS[1], '*', 'text', text) end
`);

/** Milliseconds of a turn: whoever had the last one comes a second later. */
const TURN = '900';

/** Where all streams are closed, and those that a link closes. */
export interface UpTo {
  readonly positions: Positions;
  readonly closed: Positions;
}

/** Open entries, until a link closes them. `turn`: the key that is there while somebody closes. */
export function openEntries(redis: Commands, streams: AuditStreams, turn: string) {
  const verbs: Pick<Audit, 'append' | 'takeTurn'> = {
    append: async (...texts) => {
      await redis.durable(append, [streams.for(texts.join())], ...texts);
    },
    takeTurn: async () =>
      (await redis.command<string | null>('SET', turn, '', 'NX', 'PX', TURN)) !== null,
  };

  return {
    verbs,

    /** Returns those behind the positions that a head has, as JSON, and what names the last of them. */
    async behind(text: string | null) {
      const positions: Positions = JSON.parse(text ?? '{}');
      const first = await firstOpen(redis, streams.all, positions);
      const closed = Object.fromEntries(first.map(({ stream, entry: [id] }) => [stream, id]));
      // A replica that takes over without them, and whose clock is behind, would give later entries lower ids.
      await Promise.all(Object.keys(closed).map((stream) => redis.settled(stream)));
      const upTo: UpTo = { positions: { ...positions, ...closed }, closed };
      return { texts: first.map(({ entry: [, [, value]] }) => value), upTo: JSON.stringify(upTo) };
    },

    /** Removes what is closed. What is left after a crash goes with the next entries of its stream. */
    async trim({ closed }: UpTo): Promise<void> {
      await Promise.all(
        Object.entries(closed).map(([stream, id]) => {
          const [milliseconds, count] = partsOf(id);
          return redis.command('XTRIM', stream, 'MINID', '=', `${milliseconds}-${count + 1}`);
        }),
      );
    },
  };
}
