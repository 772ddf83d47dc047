import type { KeyObject } from 'node:crypto';
import { type IssuerKeys, KeysUnavailable } from '#shared/auth/issuer-keys.ts';
import type { Clock } from '#shared/clock.ts';
import { ALGORITHMS, importPublicJwk, type JwsAlgorithm } from '#shared/jose/algorithms.ts';
import { isObject, type JsonObject } from '#shared/jose/compact-jws.ts';
import type { Log } from '#shared/log.ts';

/** The keys that the issuer publishes (RFC 7517 section 5), fetched over HTTP. */
export interface Jwks extends IssuerKeys {
  /** Never uses this key again, whoever publishes it, and renews the others. */
  drop(kid: string): void;
  /** Fetches the set at once, whatever the cooldown says: the issuer may have made new keys. */
  renew(): void;
}

export interface JwksOptions {
  readonly url: string;
  /** The JSON behind a URL. Rejects, within seconds, when there is none. */
  readonly fetch: (url: string) => Promise<unknown>;
  readonly clock: Clock;
  /** Seconds after which the set is fetched again, in the background. */
  readonly maxAge: number;
  /** Seconds between two fetches, so that a flood of unknown kids costs one. */
  readonly cooldown: number;
  readonly log: Log;
}

/** Seconds between two attempts while there is no set at all: the servers may have started together. */
const FIRST_RETRY = 1;
/**
 * Seconds that a set is used while the issuer is away: the longest life a token may have. Whatever an
 * issuer signed before it went away has expired by then.
 */
const KEEP = 86_400;

/** Throws when not one key in it can be used. A key of a kind unknown to us is passed over (RFC 7517 section 5). */
function parseJwks(document: unknown): Map<string, KeyObject> {
  const entries = isObject(document) && Array.isArray(document['keys']) ? document['keys'] : [];
  const keys = new Map<string, KeyObject>();
  for (const jwk of entries.filter(isObject)) {
    const key = importAny(jwk);
    if (key !== undefined && typeof jwk['kid'] === 'string') keys.set(jwk['kid'], key);
  }
  if (keys.size === 0) throw new Error('no usable key in the JWKS');
  return keys;
}

function importAny(jwk: JsonObject): KeyObject | undefined {
  for (const algorithm of ALGORITHMS.values()) {
    const key = importPublicJwk(jwk, algorithm);
    if (key !== undefined) return key;
  }
  return undefined;
}

export function createJwks({ url, fetch, clock, maxAge, cooldown, log }: JwksOptions): Jwks {
  let keys = new Map<string, KeyObject>();
  let fetchedAt = -Infinity;
  let triedAt = -Infinity;
  let failing = true;
  let pending: Promise<void> | undefined;
  const dropped = new Set<string>();

  // A wall clock that was set back counts as time passed: better a fetch too many.
  const passed = (since: number, seconds: number) =>
    clock.now() - since >= seconds * 1000 || clock.now() < since;

  async function load(): Promise<void> {
    triedAt = clock.now();
    try {
      const fetched = parseJwks(await fetch(url));
      for (const kid of dropped) fetched.delete(kid);
      for (const [kid, key] of keys) if (fetched.get(kid)?.equals(key)) fetched.set(kid, key);
      keys = fetched;
      fetchedAt = clock.now();
      failing = false;
    } catch (error) {
      failing = true;
      log.warn('jwks.unavailable', { url, reason: String(error) });
    }
  }

  const refresh = () =>
    (pending ??= load().finally(() => {
      pending = undefined;
    }));

  async function find(kid: string, algorithm: JwsAlgorithm): Promise<KeyObject | undefined> {
    const pause = fetchedAt === -Infinity ? FIRST_RETRY : cooldown;
    if (pending !== undefined || passed(triedAt, pause)) {
      await refresh();
      await pending; // a key was dropped meanwhile, so what came may be older than its successor
    }
    const key = keys.get(kid);
    if (passed(fetchedAt, KEEP) || (key === undefined && failing)) throw new KeysUnavailable(pause);
    return key !== undefined && algorithm.fits(key) ? key : undefined;
  }

  function renew(): void {
    // What is being fetched may be older than the key that is looked for next.
    void (pending === undefined ? refresh() : pending.then(refresh));
  }

  return {
    key(kid, algorithm) {
      if (dropped.has(kid)) return undefined;
      const key = keys.get(kid);
      if (key === undefined || passed(fetchedAt, KEEP)) return find(kid, algorithm);
      if (passed(fetchedAt, maxAge) && passed(triedAt, cooldown)) void refresh();
      return algorithm.fits(key) ? key : undefined;
    },
    drop(kid) {
      dropped.add(kid);
      keys.delete(kid);
      renew();
    },
    renew,
  };
}
