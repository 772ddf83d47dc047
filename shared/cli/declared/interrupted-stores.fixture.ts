import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import type { Recorded, Stores } from '#shared/stores/stores.ts';

/**
 * The ways in which a write can fail. `killed`: it is not made, and no later call happens. `refused`: it is not made,
 * and later calls work. `unanswered`: it is made, but the caller gets an error, and later calls work.
 */
export const WAYS = ['killed', 'refused', 'unanswered'] as const;

const WRITES = /^(?:add|append|expire|put|raise|remove|replace|revoke)/;

/** Wraps stores so that write number `at` (from 1) fails. `happened` says whether there were that many writes. */
export function interrupted(stores: Stores, at: number, way: (typeof WAYS)[number]) {
  let writes = 0;
  const happened = () => writes >= at;

  const verb =
    (name: string, work: (...args: unknown[]) => unknown) =>
    async (...args: unknown[]) => {
      if (way === 'killed' && happened()) throw new StoreUnavailable('nobody is there any more');
      if (!WRITES.test(name) || ++writes !== at) return work(...args);
      if (way === 'unanswered') await work(...args);
      throw new StoreUnavailable(way);
    };

  const part = <T extends object>(of: T): T =>
    new Proxy(of, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? verb(String(name), value.bind(target)) : value;
      },
    });

  const all = (of: Stores): Stores =>
    new Proxy(of, {
      get(target, name) {
        if (name === 'recorded') {
          return (which: Recorded, ...texts: string[]) => part(target.recorded(which, ...texts));
        }
        if (name === 'together') {
          const together: Stores['together'] = (work) => target.together((held) => work(all(held)));
          return together;
        }
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'object' && value !== null ? part(value) : value;
      },
    });

  return { stores: all(stores), happened };
}
