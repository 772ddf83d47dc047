/** The shared parts of the flows: the pair on either store, with direct access to the store. */
import { randomUUID } from 'node:crypto';
import { importJWK, SignJWT } from 'jose';
import { systemClock } from '#shared/base/clock.ts';
import { loadConfig } from '#shared/config/load.ts';
import type { Config } from '#shared/config/schema.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { keyLifecycle, listKeys, privateJwk } from '#shared/keys/signing-key-lifecycle.ts';
import { silentLog } from '#shared/base/log.ts';
import type { AccessTokenClaims } from '#shared/jose/access-token-claims.ts';
import { longestLife, rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openStores } from '#shared/stores/open.ts';
import { startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair, PairOptions } from '../pair/pair.ts';

export type Client = Awaited<ReturnType<Pair['addClient']>>;
export type ForgedClaims = Partial<Omit<AccessTokenClaims, 'aud'>> & {
  readonly aud?: string;
  readonly client_id: string;
};
/** SQLite on one machine; PostgreSQL with Redis beside it for several machines. */
export type StoreKind = 'sqlite' | 'postgres';

export const STORE_KINDS: readonly StoreKind[] = ['sqlite', 'postgres'];
/**
 * For slow tests that hardly depend on the store, such as tests with a browser. Other tests run on every
 * store.
 */
export const ONE_STORE: readonly StoreKind[] = ['sqlite'];

/** Limits that no test reaches. */
const UNLIMITED = { burst: 1_000_000, per: 0.001 };
export const LIMITS = {
  client: UNLIMITED,
  address: UNLIMITED,
  privateTokens: UNLIMITED,
  redemptions: UNLIMITED,
  visits: UNLIMITED,
};

/** The pair as processes, and a direct connection to its store. */
export interface Flow extends AsyncDisposable {
  readonly pair: Pair;
  readonly stores: Stores;
  readonly config: Config;
  /** An access token with these claims instead of valid claims, signed with the current key. */
  forge(claims: ForgedClaims): Promise<string>;
  /** When a revocation made now may be forgotten. */
  until(): number;
}

/** Starts the pair on an existing store. */
export async function startFlow(options: PairOptions = {}): Promise<Flow> {
  await using parts = new AsyncDisposableStack();
  const settings: PairOptions['settings'] = (origins) => ({
    limits: LIMITS,
    ...(typeof options.settings === 'function' ? options.settings(origins) : options.settings),
  });
  const pair = parts.use(await startPair({ ...options, settings }));
  const config = await loadConfig(pair.env);
  const stores = parts.use(
    await openStores(config, {
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
    }),
  );
  const owned = parts.move();
  return {
    pair,
    stores,
    config,
    forge: (claims) => forge(pair, stores, config, claims),
    until: () => rememberUntil(Date.now(), longestLife(config)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Returns the settings with which `startPair` uses a store of that kind. The store's server ends with
 * `parts`.
 */
export async function startStore(
  kind: StoreKind,
  parts: AsyncDisposableStack,
): Promise<Pick<PairOptions, 'store'>> {
  if (kind === 'sqlite') return {};
  const { store } = parts.use(await startSharedStore({ appendonly: true }));
  return { store };
}

/** Starts the pair on a store of that kind. The store's server ends with the pair. */
export async function startFlowOn(kind: StoreKind, options: PairOptions = {}): Promise<Flow> {
  await using parts = new AsyncDisposableStack();
  const flow = parts.use(await startFlow({ ...options, ...(await startStore(kind, parts)) }));
  const owned = parts.move();
  return { ...flow, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function forge(
  pair: Pair,
  stores: Stores,
  config: Config,
  claims: ForgedClaims,
): Promise<string> {
  const master = await readMasterSecret(config, pair.env);
  const parts = { stores, master, clock: systemClock, random: systemRandom, config };
  const life = keyLifecycle('keys', parts);
  const keys = await listKeys(life);
  const key = keys.find((one) => one.state === 'signing' && one.key.alg === 'ES256')?.key;
  const epoch = await stores.revocations.epoch(false);
  if (key === undefined || epoch === undefined) throw new Error('there is no key or no epoch');
  const now = Math.floor(Date.now() / 1000);
  const good = {
    iss: config.issuer,
    aud: pair.documents,
    sub: claims.client_id,
    iat: now,
    exp: now + config.tokens.lifetime,
    jti: randomUUID(),
    scope: 'documents:read documents:write',
    client_gen: await stores.revocations.generation('client', claims.client_id),
    epoch,
    ...claims,
  };
  return new SignJWT(good)
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.kid })
    .sign(await importJWK(privateJwk(life, key), 'ES256'));
}

/** Returns the statuses of both resource servers for the token, in their order. */
export function getAll(pair: Pair, token: string): Promise<number[]> {
  return Promise.all(pair.resources.map((_, server) => pair.get(token, server)));
}
