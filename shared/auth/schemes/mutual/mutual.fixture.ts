import { randomBytes } from 'node:crypto';
import { afterAll } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { keptRealm } from '#shared/people/verifier-kind.ts';
import type { Verifier, Verifiers } from '#shared/people/verifiers.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { createAttempts } from '../../credentials/attempts.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import type { AuthRequest, Scheme } from '../../scheme.ts';
import type { MutualAlgorithmName } from './algorithms.ts';
import { type ClientOptions, mutualClient } from './client.fixture.ts';
import { kam3Threads } from './kam3-threads.ts';
import { mutual, type MutualOptions } from './mutual.ts';
import { mutualKind } from './verifier.ts';

export const REALM = 'documents';
export const SCOPE = 'rs.example';
export const RIGHT = 'correct horse battery staple';
export const P_256 = 'iso-kam3-ec-p256-sha256';

const opened: AsyncDisposable[] = [];

afterAll(async () => {
  for (const one of opened) await one[Symbol.asyncDispose]();
});

/** Derived once for all tests of a suite, since deriving takes longer than most of them. */
const derived = new Map<string, Promise<string | undefined>>();

async function verifierOf(algorithm: MutualAlgorithmName, name: string, password: string) {
  const of = JSON.stringify([algorithm, name, password]);
  const kind = mutualKind(algorithm, SCOPE);
  const made = derived.get(of) ?? kind.derive({ name, realm: REALM, password }, systemRandom);
  derived.set(of, made);
  return { key: `${kind.kind} ${keptRealm(kind, REALM)} ${name}`, value: (await made) ?? '' };
}

/**
 * Opens two processes on one store; a test can change verifiers while the store runs. `beside`: stores that replace
 * those of the database.
 */
export async function twoMutualProcesses({
  account = { burst: 1000, per: 1 },
  exchanges = { burst: 1000, per: 1 },
  clock = new ManualClock(),
  beside = {},
}: {
  account?: Rate;
  exchanges?: Rate;
  clock?: ManualClock;
  beside?: Partial<Stores>;
} = {}) {
  const folder = await storeFolder();
  const secret = randomBytes(32);
  const kept = new Map<string, Verifier>();
  const verifiers: Pick<Verifiers, 'find'> = {
    async find(kind, realm, who) {
      return 'name' in who ? kept.get(`${kind} ${realm} ${who.name}`) : undefined;
    },
  };
  async function setPassword(
    name: string,
    password: string,
    algorithm: MutualAlgorithmName = P_256,
  ): Promise<void> {
    const { key, value } = await verifierOf(algorithm, name, password);
    kept.set(key, { person: { id: `id of ${name}`, name }, value });
  }
  await setPassword('alice', RIGHT);

  async function start() {
    const opening = await openSqlite({ folder, clock, random: systemRandom });
    opened.push(opening);
    const stores = { ...opening, ...beside };
    const { sessions, useCounts, limits } = stores;
    const attempts = createAttempts({ limits, account, address: { burst: 1000, per: 1 } });
    const scheme = (more: Partial<MutualOptions> = {}) =>
      mutual({
        realm: REALM,
        algorithm: P_256,
        certificate: undefined,
        verifiers,
        sessions,
        useCounts,
        clock,
        attempts,
        limits,
        exchanges,
        secret,
        random: systemRandom,
        kam3: kam3Threads,
        ...more,
      });
    return { stores, scheme };
  }
  return { clock, kept, setPassword, here: await start(), there: await start() };
}

/** An origin in clear text, where Mutual binds to the host. */
export const ORIGIN = 'http://rs.example';

export const from = (address: string, more: Partial<AuthRequest> = {}): AuthRequest => ({
  ...requestOf([], { origin: ORIGIN, ...more }),
  peer: { address, connection: {}, http2: false, trusted: false },
});

export async function send(scheme: Scheme, params: AuthParams, request = from('192.0.2.1')) {
  return scheme.authenticate({ scheme: 'mutual', rest: '', params }, request);
}

export const clientOf = (options: Partial<ClientOptions> = {}) =>
  mutualClient({
    algorithm: P_256,
    scope: SCOPE,
    realm: REALM,
    user: 'alice',
    password: RIGHT,
    validation: 'host',
    vh: Buffer.from(`${ORIGIN}:80`),
    ...options,
  });

/** Runs the key exchange; returns the server's challenge, and the client's session. */
export async function begin(
  scheme: Scheme,
  client: ReturnType<typeof clientOf>,
  request?: AuthRequest,
) {
  const verdict = await send(scheme, client.kex(), request);
  if (verdict.kind !== 'continued') throw new Error(`not continued: ${JSON.stringify(verdict)}`);
  const params = verdict.challenge.params ?? {};
  return { params, ...client.session(params) };
}

/** Returns the `reason` parameter of a refusal. */
export function reasonOf(verdict: Awaited<ReturnType<typeof send>>): string | undefined {
  if (verdict.kind !== 'refused') return `not refused but ${verdict.kind}`;
  const [challenge, another] = verdict.challenges ?? [];
  return another === undefined ? challenge?.params?.['reason'] : 'several challenges';
}
