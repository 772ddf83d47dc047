import { setImmediate } from 'node:timers/promises';
import { forAll } from '#shared/base/for-all.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import {
  ISSUED_TYPES,
  keepTokenKeys,
  listTokenKeys,
  openTokenKey,
  type TokenKeyLifecycle,
} from '#shared/keys/token-key-lifecycle.ts';
import type { ScheduledTokenKey } from '#shared/keys/token-key-schedule.ts';
import type { BlindSign, BlindSigners } from './blind-signers.ts';

/** An opened key that is not retired. */
export interface IssuingKey extends TokenKeyPair {
  /** Milliseconds since the epoch at which the key starts to issue. */
  readonly notBefore: number;
  /** Milliseconds since the epoch at which the key retires, as far as is known now. */
  readonly until: number;
  /** The latest value that `until` can take. */
  readonly notAfter: number;
  readonly blindSign: BlindSign;
}

/** The issuer's keys in this process; every process reads the same rows. */
export interface IssuerKeyRing {
  /** The keys that are not retired now, in the order in which they were added. */
  readonly live: readonly IssuingKey[];
  /** Finds a key that is not retired. If none fits, reads the rows again, at most once a second. */
  find(fits: (key: IssuingKey) => boolean): Promise<IssuingKey | undefined>;
  /** Reads the rows again; concurrent callers share one reading. */
  refresh(): Promise<void>;
  /**
   * Makes and retires the keys that are due, as every process does; concurrent callers share one run. Rejects if a due
   * key cannot be made.
   */
  keep(): Promise<void>;
}

/** Milliseconds between two readings for missing keys. */
const PAUSE = 1000;

export function hasEachType(keys: readonly IssuingKey[]): boolean {
  return ISSUED_TYPES.every((type) => keys.some((key) => key.type === type));
}

/** Opens the ring with a key of each type. Throws if the stored keys have another master secret. */
export async function openIssuerKeyRing(
  life: TokenKeyLifecycle,
  signers: BlindSigners,
): Promise<IssuerKeyRing> {
  const { clock, master } = life;
  let keys: readonly IssuingKey[] = [];
  let keeping: Promise<void> | undefined;
  let sought: { readonly at: number; readonly read: Promise<unknown> } | undefined;

  function open({ key, until }: ScheduledTokenKey): IssuingKey {
    const known = keys.find(({ id }) => id.toString('base64url') === key.id);
    if (known !== undefined) return { ...known, until };
    const pair = {
      type: key.type,
      id: Buffer.from(key.id, 'base64url'),
      publicKey: Buffer.from(key.publicKey, 'base64url'),
      privateKey: openTokenKey(master, key),
    };
    const { notBefore, until: notAfter } = key;
    return { ...pair, notBefore, notAfter, until, blindSign: signers[key.type](pair) };
  }

  async function readRows(): Promise<readonly ScheduledTokenKey[]> {
    const listed = await listTokenKeys(life);
    keys = listed.filter(({ state }) => state !== 'retired').map(open);
    return listed;
  }

  /** The delay lets all present requests share the reading: SQLite reads at once, so no request could join later. */
  const read = forAll(readRows, () => setImmediate());

  async function keep(): Promise<void> {
    if (await keepTokenKeys(life, await read())) await read();
  }

  const live = () => keys.filter(({ until }) => clock.now() < until);

  await keep().catch((error: unknown) => {
    if (!hasEachType(live())) throw error; // otherwise the chore reports the error
  });
  return {
    get live() {
      return live();
    },
    async find(fits) {
      const found = live().find(fits);
      if (found !== undefined) return found;
      const now = clock.now();
      if (sought === undefined || Math.abs(now - sought.at) >= PAUSE) {
        sought = { at: now, read: read() };
      }
      await sought.read;
      return live().find(fits);
    },
    refresh: async () => void (await read()),
    keep: () =>
      (keeping ??= keep().finally(() => {
        keeping = undefined;
      })),
  };
}
