import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { afterAll } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import type { Verifier, Verifiers } from '#shared/people/verifiers.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { ALL_REALMS } from '#shared/stores/people/people.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { createAttempts } from '../../credentials/attempts.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import type { AuthRequest, Scheme } from '../../scheme.ts';
import type { ScramHash } from './hashes.ts';
import { scram } from './scram.ts';
import { SCRAM_KINDS } from './verifier.ts';

export const REALM = 'documents';
export const RIGHT = 'correct horse battery staple';

const opened: AsyncDisposable[] = [];

afterAll(async () => {
  for (const one of opened) await one[Symbol.asyncDispose]();
});

/**
 * Derived once for all tests of a suite, at the server and at the client, since deriving takes longer than most
 * tests.
 */
const derived = new Map<string, string>();
const salted = new Map<string, Buffer>();

/**
 * Opens two processes on one store; a test can change verifiers while the store runs. `beside`: stores that replace
 * those of the database.
 */
export async function twoScramProcesses({
  account = { burst: 1000, per: 1 },
  clock = new ManualClock(),
  beside = {},
}: { account?: Rate; clock?: ManualClock; beside?: Partial<Stores> } = {}) {
  const folder = await storeFolder();
  const secret = randomBytes(32);
  const kept = new Map<string, Verifier>();
  const asked: string[] = [];
  const verifiers: Pick<Verifiers, 'find'> = {
    async find(kind, realm, who) {
      const name = 'name' in who ? who.name : '';
      asked.push(name);
      return realm === ALL_REALMS ? kept.get(`${kind} ${name}`) : undefined;
    },
  };
  async function setPassword(name: string, password: string) {
    for (const { kind, derive } of Object.values(SCRAM_KINDS)) {
      const of = JSON.stringify([kind, name, password]);
      const value =
        derived.get(of) ?? (await derive({ name, realm: REALM, password }, systemRandom));
      if (value === undefined) throw new Error('no keys');
      derived.set(of, value);
      kept.set(`${kind} ${name}`, { person: { id: `id of ${name}`, name }, value });
    }
  }
  await setPassword('alice', RIGHT);

  async function start() {
    const opening = await openSqlite({ folder, clock, random: systemRandom });
    opened.push(opening);
    const stores = { ...opening, ...beside };
    const { sessions, useCounts, limits } = stores;
    const attempts = createAttempts({ limits, account, address: { burst: 1000, per: 1 } });
    const scheme = (hash: ScramHash, realm = REALM) =>
      scram({
        hash,
        realm,
        verifiers,
        sessions,
        useCounts,
        attempts,
        limits,
        secret,
        clock,
        random: systemRandom,
      });
    return { stores, scheme };
  }
  return { clock, kept, asked, setPassword, here: await start(), there: await start() };
}

export const from = (address: string): AuthRequest => ({
  ...requestOf(),
  peer: { address, connection: {}, http2: false, trusted: false },
});

export async function send(scheme: Scheme, params: AuthParams, request = from('192.0.2.1')) {
  return scheme.authenticate({ scheme: scheme.name.toLowerCase(), rest: '', params }, request);
}

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');
export const data = base64;
export const text = (encoded = '') => Buffer.from(encoded, 'base64').toString();

/** Creates a client of RFC 7804, written from the RFC; the test calls each step. */
export function clientOf(hash: ScramHash, name = 'alice', password = RIGHT, nonce = newNonce()) {
  const node = { 'SHA-1': 'sha1', 'SHA-256': 'sha256' }[hash];
  const size = { 'SHA-1': 20, 'SHA-256': 32 }[hash];
  const hmac = (key: Buffer, message: string) => createHmac(node, key).update(message).digest();
  const bare = `n=${name},r=${nonce}`;
  const saltedPassword = (salt: string, iterations: number) => {
    const of = JSON.stringify([hash, password, salt, iterations]);
    const known = salted.get(of);
    const made = known ?? pbkdf2Sync(password, Buffer.from(salt, 'base64'), iterations, size, node);
    salted.set(of, made);
    return made;
  };

  return {
    bare,
    nonce,
    first: () => ({ data: base64(`n,,${bare}`) }),
    /** Returns the client-final-message for a server-first-message, and the signature that the server must send. */
    final(serverFirst: string, fullNonce = /^r=([^,]+)/.exec(serverFirst)?.[1] ?? '') {
      const [, salt = '', iterations = ''] = /,s=([^,]+),i=(\d+)/.exec(serverFirst) ?? [];
      const key = saltedPassword(salt, Number(iterations));
      const clientKey = hmac(key, 'Client Key');
      const withoutProof = `c=biws,r=${fullNonce}`;
      const message = [bare, serverFirst, withoutProof].join(',');
      const signature = hmac(createHash(node).update(clientKey).digest(), message);
      const proof = clientKey.map((byte, index) => byte ^ (signature[index] ?? 0));
      return {
        withoutProof,
        proof: base64(Buffer.from(proof)),
        message: `${withoutProof},p=${base64(Buffer.from(proof))}`,
        signature: `v=${base64(hmac(hmac(key, 'Server Key'), message))}`,
      };
    },
  };
}

export const newNonce = () => randomBytes(18).toString('base64');

/** Sends the first message, and reads the server's answer. */
export async function begin(scheme: Scheme, params: AuthParams, request?: AuthRequest) {
  const verdict = await send(scheme, params, request);
  if (verdict.kind !== 'continued') throw new Error(`not continued: ${JSON.stringify(verdict)}`);
  const { sid = '', data: encoded } = verdict.challenge.params ?? {};
  return { challenge: verdict.challenge, sid, serverFirst: text(encoded) };
}

/** Sends both messages. */
export async function authenticate(
  scheme: Scheme,
  client: ReturnType<typeof clientOf>,
  request?: AuthRequest,
) {
  const { sid, serverFirst } = await begin(scheme, client.first(), request);
  const final = client.final(serverFirst);
  const verdict = await send(scheme, { sid, data: base64(final.message) }, request);
  return { sid, serverFirst, final, verdict };
}
