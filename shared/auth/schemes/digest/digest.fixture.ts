import { createHash } from 'node:crypto';
import { testPeople } from '#shared/people/directory.fixture.ts';
import { localVerifiers } from '#shared/people/local-verifiers.ts';
import { addPerson } from '#shared/people/people.ts';
import type { ManualClock } from '#shared/base/clock.ts';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { createAttempts, type AttemptsOptions } from '../../credentials/attempts.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import { createNonces } from '../../credentials/nonces.ts';
import type { AuthRequest, Scheme, Verdict } from '../../scheme.ts';
import { digest, type DigestOptions } from './digest.ts';
import { digestVerifier } from './verifier.ts';

export const REALM = 'people';
export const PASSWORD = 'correct horse: battery staple';

const SECRET = Buffer.alloc(32, 7);

/** Opens two processes on one store that has alice and jäsøn, with verifiers of the realm. */
export async function twoDigestProcesses() {
  const realms = [{ realm: REALM, kinds: digestVerifier.kinds }];
  const { data, stores, store } = await testPeople(undefined, realms);
  for (const name of ['alice', 'jäsøn']) await addPerson(store, { name, password: PASSWORD });
  const { stores: elsewhere } = await testPeople(data, realms);
  return { stores, elsewhere, store };
}

/** Creates the scheme of one process, and records the scheme's calls. */
export function digestOn(
  {
    people,
    useCounts,
    limits,
  }: Pick<Stores, 'people' | 'useCounts'> & Pick<AttemptsOptions, 'limits'>,
  clock: ManualClock,
  more: Partial<DigestOptions> = {},
) {
  const did: string[] = [];
  const nonces = createNonces({ secret: SECRET, clock, random: systemRandom });
  const verifiers = localVerifiers({ people, admitted: { demo: false, sources: new Set() } });
  const many = { burst: 10_000, per: 0.001 };
  const attempts = createAttempts({ limits, account: many, address: many });
  const scheme = digest({
    realm: REALM,
    algorithms: ['SHA-256'],
    qop: ['auth'],
    userhash: false,
    nonces,
    random: systemRandom,
    verifiers: {
      find: (...args) => (did.push('verifier'), verifiers.find(...args)),
    },
    useCounts: { use: (...args) => (did.push('use'), useCounts.use(...args)) },
    attempts: {
      begin: (...args) => (did.push('begin'), attempts.begin(...args)),
      turn: attempts.turn,
      failed: (...args) => (did.push('failed'), attempts.failed(...args)),
      succeeded: (...args) => (did.push('succeeded'), attempts.succeeded(...args)),
    },
    ...more,
  });
  return { scheme, did, nonces, clock };
}

/** Returns a request with this `content`; `read` is the number of calls for its digest. */
export function requestWith(
  more: Partial<Omit<AuthRequest, 'field' | 'lines'>> = {},
  content = '',
): AuthRequest & { readonly read: string[] } {
  const read: string[] = [];
  const digestOf = async (hash: string) => {
    read.push(hash);
    return createHash(hash).update(content).digest();
  };
  return { ...requestOf([], { content: { digest: digestOf }, ...more }), read };
}

type Params = Readonly<Record<string, string>>;

const NODE_HASH: Readonly<Record<string, string>> = {
  MD5: 'md5',
  'SHA-256': 'sha256',
  'SHA-512-256': 'sha512-256',
};

export interface Client {
  readonly name?: string;
  readonly password?: string;
  readonly nc?: number;
  readonly cnonce?: string;
  readonly qop?: string;
  readonly content?: string;
  /** The algorithm of the challenge that is answered. */
  readonly algorithm?: string;
  /** Overrides the request's method or URI in what is hashed. */
  readonly hashed?: Params;
}

/**
 * Computes a client's answer to a challenge, written from RFC 7616 section 3.4 independently of the scheme's code.
 */
export function answer(challenge: Params, request: AuthRequest, client: Client = {}): Params {
  const { name = 'alice', password = PASSWORD, nc = 1, cnonce = 'MTIz', qop = 'auth' } = client;
  const { algorithm = 'MD5', realm = '', nonce = '', opaque = '', userhash = 'false' } = challenge;
  const h = (text: string) =>
    createHash(NODE_HASH[algorithm.replace('-sess', '')] ?? '')
      .update(text)
      .digest('hex');
  const count = nc.toString(16).padStart(8, '0');
  const said: Params = { method: request.method, uri: request.target, ...client.hashed };
  const a1 = h(`${name}:${realm}:${password}`);
  const secret = algorithm.endsWith('-sess') ? h(`${a1}:${nonce}:${cnonce}`) : a1;
  const content = qop === 'auth-int' ? `:${h(client.content ?? '')}` : '';
  const a2 = h(`${said['method']}:${said['uri']}${content}`);
  return {
    username: userhash === 'true' ? h(`${name}:${realm}`) : Buffer.from(name).toString('latin1'),
    realm,
    nonce,
    uri: said['uri'] ?? '',
    response: h(`${secret}:${nonce}:${count}:${cnonce}:${qop}:${a2}`),
    algorithm,
    opaque,
    qop,
    nc: count,
    cnonce,
    ...(userhash === 'true' && { userhash }),
  };
}

/** Returns the parameters of a challenge of the scheme. */
export async function challengeOf(
  scheme: Scheme,
  request: AuthRequest,
  algorithm?: string,
): Promise<Params> {
  const challenges = await scheme.challenge(request);
  const found = challenges.find(
    ({ params }) => algorithm === undefined || params?.['algorithm'] === algorithm,
  );
  if (found?.params === undefined) throw new Error('no such challenge');
  return found.params;
}

/** Sends the parameters as a field, without undefined ones, and returns the verdict. */
export async function submit(
  scheme: Scheme,
  request: AuthRequest,
  params: Readonly<Record<string, string | undefined>>,
): Promise<Verdict> {
  const list = Object.entries(params).flatMap(([name, value]) =>
    value === undefined
      ? []
      : [
          `${name}=${name === 'username*' ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`}`,
        ],
  );
  const credentials = parseCredentials(`Digest ${list.join(', ')}`);
  if (credentials === undefined) throw new Error('this is no line of credentials');
  return scheme.authenticate(credentials, request);
}

/** Asks for a challenge and answers it. */
export async function exchange(
  scheme: Scheme,
  request: AuthRequest,
  client: Client = {},
  changes: Readonly<Record<string, string | undefined>> = {},
): Promise<Verdict> {
  const challenge = await challengeOf(scheme, request, client.algorithm);
  return submit(scheme, request, { ...answer(challenge, request, client), ...changes });
}
