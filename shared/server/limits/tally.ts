import { Counts, type Share } from '#shared/base/counts.js';
import { WORKERS } from '#shared/base/workers.ts';
import { Leases, type Tally } from './leases.ts';

export type { Share } from '#shared/base/counts.js';

/**
 * Creates counts that all workers of this server share, one for each name. `block`: for small and frequent shares,
 * the worker reserves blocks of this size from its parent and keeps them for a while. Without `block`, every share is
 * a request to the parent.
 */
export function createTally(name: string, block = 0): Tally {
  if (WORKERS > 1) return block > 0 ? new Leases(ofParent(name), block) : ofParent(name);
  const counts = new Counts();
  return {
    take: (shares) => counts.take(0, shares),
    give: (shares) => counts.give(0, shares),
  };
}

const questions = new Map<number, (taken: boolean) => void>();
let asked = 0;

/**
 * Creates the tally of the parent process. The parent takes back the shares of a worker that died; if the parent
 * dies, the worker ends, too. A stopping worker disconnects from its parent before its last tunnel is closed. It then
 * gets no more shares, and the parent has taken its shares back already.
 */
function ofParent(name: string): Tally {
  const nameOf = (of: string) => `${name} ${of}`;
  const named = (shares: readonly Share[]) =>
    shares.map(({ within, ...share }) => ({
      ...share,
      of: nameOf(share.of),
      ...(within && { within: { ...within, of: nameOf(within.of) } }),
    }));
  return {
    take(shares) {
      if (asked === 0) process.on('message', hear);
      asked += 1;
      const take = asked;
      return new Promise((resolve) => {
        questions.set(take, resolve);
        process.send?.({ take, shares: named(shares) }, (error: Error | null) => {
          if (error !== null) hear({ take, taken: false });
        });
      });
    },
    give: (shares) => void process.send?.({ shares: named(shares) }, () => {}),
  };
}

function hear(content: unknown): void {
  const { take, taken } = content as { take: number; taken: boolean };
  questions.get(take)?.(taken);
  questions.delete(take);
}
