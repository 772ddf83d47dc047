import { isWithin } from '#shared/base/clock.ts';
import { randomId } from '#shared/base/random.ts';
import { seal, unseal } from '#shared/keys/seal.ts';
import type { PagesServer } from '../../base/server.ts';

/** Seconds for which a form is good. */
const LIFE = 3600;

interface Mark {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Marks forms, so that each counts once: one that a browser sends again, as when its answer is loaded anew, does nothing
 * more. A mark is for one person at one address.
 */
export function createOnce({
  master,
  random,
  clock,
  stores,
  config,
}: Pick<PagesServer, 'master' | 'random' | 'clock' | 'stores' | 'config'>) {
  const { skew } = config.tokens;
  const purpose = (path: string, accountId: string) => `admin form ${accountId} ${path}`;

  function read(sealed: string, path: string, accountId: string): Mark | undefined {
    try {
      return JSON.parse(unseal(master, purpose(path, accountId), sealed)) as Mark;
    } catch {
      return undefined;
    }
  }

  return {
    mark(path: string, accountId: string): string {
      const mark: Mark = { id: randomId(random), at: clock.now() };
      return seal(master, purpose(path, accountId), JSON.stringify(mark), random);
    },

    /** True once, for a mark of ours that is not too old. */
    async claim(sealed: string, path: string, accountId: string): Promise<boolean> {
      const mark = read(sealed, path, accountId);
      if (mark === undefined || !isWithin(clock, mark.at, { life: LIFE, skew })) return false;
      return stores.replay.unique('admin-form', mark.id, LIFE + skew);
    },
  };
}
