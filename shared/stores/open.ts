import type { PostgresDependencies } from './postgres/open.ts';
import { acknowledged, untilFollowed } from './revocation/acknowledged.ts';
import type { Revocations } from './revocation/revocations.ts';
import type { StoreSettings } from './settings.ts';
import type { Stores } from './stores.ts';

export interface StoresSpec {
  readonly store: StoreSettings;
  /** Folder of the embedded store. */
  readonly data: string;
  readonly revocations: {
    /** Seconds for which followers trust an answer. */
    readonly lease: number;
  };
  readonly tokens: {
    /** Seconds by which the clocks of our servers may differ. */
    readonly skew: number;
  };
}

export type StoresDependencies = Omit<PostgresDependencies, 'skew' | 'serverTime'>;

/** Opens the configured store, and loads only its code. Each revocation waits for all followers. */
export async function openStores(spec: StoresSpec, deps: StoresDependencies): Promise<Stores> {
  const stores = await openStore(spec, deps);
  const { followers } = stores;
  const lease = spec.revocations.lease * 1000;
  const monotonic = () => performance.now();
  const options = { followers, lease, monotonic };
  const revocations = acknowledged(stores.revocations, options);
  const followed = untilFollowed(options);
  const opened: Stores = {
    ...stores,
    revocations,
    recorded(part, ...texts) {
      const recorded = stores.recorded(part, ...texts);
      if (part !== 'revocations') return recorded;
      return acknowledged(recorded as Revocations, options) as typeof recorded;
    },
    async together(work) {
      const result = await stores.together(work);
      // Followers see only committed revocations, so the transaction waits for them after its commit.
      await followed();
      return result;
    },
  };
  return opened;
}

async function openStore(
  { store, data, tokens }: StoresSpec,
  deps: StoresDependencies,
): Promise<Stores> {
  if (store.kind === 'postgres') {
    const { openPostgres } = await import('./postgres/open.ts');
    return openPostgres(store, { ...deps, skew: tokens.skew });
  }
  const { openSqlite } = await import('./sqlite/open.ts');
  return openSqlite({ folder: data, ...deps, skew: tokens.skew });
}
