import type { KeyObject } from 'node:crypto';
import type { IssuerKeys } from './issuer-keys.ts';
import { andThen } from '#shared/base/awaitable.ts';
import type { Clock } from '#shared/base/clock.ts';
import { ALGORITHMS, importPublicJwk, type JwsAlgorithm } from '#shared/jose/algorithms.ts';
import { isObject, type JsonObject } from '#shared/jose/compact-jws.ts';
import type { Log } from '#shared/base/log.ts';
import { keepDocument } from './kept-document.ts';

/** The keys that the issuer publishes (RFC 7517 section 5), fetched over HTTP. */
export interface Jwks extends IssuerKeys {
  /** Never uses this key again, even if the issuer still publishes it, and fetches the remaining keys. */
  drop(kid: string): void;
  /** Fetches the set at once, whatever the cooldown says: the issuer may have made new keys. */
  renew(): void;
  /** Resolves when keys are known; fetches them if necessary. Rejects with `KeysUnavailable`. */
  ready(): Promise<void>;
}

export interface JwksOptions {
  readonly url: string;
  /** Fetches the JSON of a URL. Rejects, within seconds, if there is none. */
  readonly fetch: (url: string) => Promise<unknown>;
  readonly clock: Clock;
  /** Seconds after which the key set is fetched again, in the background. */
  readonly maxAge: number;
  /** Least seconds between two fetches, so that a flood of unknown kids causes one fetch. */
  readonly cooldown: number;
  readonly log: Log;
}

interface Published {
  readonly key: KeyObject;
  /**
   * The algorithms that the key fits. They are kept, since finding them costs more than all other work on a known
   * token.
   */
  readonly algorithms: ReadonlySet<JwsAlgorithm>;
}

/** Reads a JWKS. Skips keys of unknown kinds (RFC 7517 section 5), and throws if no key is left. */
function parseJwks(document: unknown): Map<string, Published> {
  const entries = isObject(document) && Array.isArray(document['keys']) ? document['keys'] : [];
  const keys = new Map<string, Published>();
  for (const jwk of entries.filter(isObject)) {
    const published = importAny(jwk);
    if (published !== undefined && typeof jwk['kid'] === 'string') keys.set(jwk['kid'], published);
  }
  if (keys.size === 0) throw new Error('no usable key in the JWKS');
  return keys;
}

function importAny(jwk: JsonObject): Published | undefined {
  const all = [...ALGORITHMS.values()];
  for (const algorithm of all) {
    const key = importPublicJwk(jwk, algorithm);
    if (key !== undefined) return { key, algorithms: new Set(all.filter(({ fits }) => fits(key))) };
  }
  return undefined;
}

export function createJwks({ url, fetch, clock, maxAge, cooldown, log }: JwksOptions): Jwks {
  const dropped = new Set<string>();
  const document = keepDocument<ReadonlyMap<string, Published>>({
    async fetch(previous) {
      const keys = parseJwks(await fetch(url));
      for (const [kid, before] of previous ?? []) {
        if (keys.get(kid)?.key.equals(before.key)) keys.set(kid, before);
      }
      return { value: keys, maxAge };
    },
    clock,
    cooldown,
    failed: (reason) => log.warn('jwks.unavailable', { url, reason }),
  });

  return {
    key(kid, algorithm) {
      if (dropped.has(kid)) return undefined;
      const found = document.find((keys) => (dropped.has(kid) ? undefined : keys.get(kid)));
      return andThen(found, (published) =>
        published?.algorithms.has(algorithm) ? published.key : undefined,
      );
    },
    drop(kid) {
      dropped.add(kid);
      document.renew();
    },
    renew: document.renew,
    async ready() {
      await document.findAtOnce(({ size }) => size);
    },
  };
}
