import { createHash, createHmac } from 'node:crypto';
import type { Clock } from '#shared/base/clock.ts';
import type { Person } from '#shared/people/directory.ts';
import type { Verifiers } from '#shared/people/verifiers.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import type { Challenge } from '#shared/http/auth/challenge.ts';
import type { Random } from '#shared/base/random.ts';
import { ALL_REALMS } from '#shared/stores/people/people.ts';
import type { Sessions } from '#shared/stores/authentication/sessions.ts';
import type { Limits } from '#shared/stores/limits/limits.ts';
import type { UseCounts } from '#shared/stores/authentication/use-counts.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import type { Attempts } from '../../credentials/attempts.ts';
import { personPrincipal } from '../../person.ts';
import type { AuthRequest, Scheme, Verdict } from '../../scheme.ts';
import { encodeMessage } from './base64.ts';
import { SCRAM_HASHES, SCRAM_ITERATIONS, SCRAM_SALT_BYTES, type ScramHash } from './hashes.ts';
import {
  type ClientFinal,
  type ClientFirst,
  formatServerFirst,
  readMessage,
  readUsername,
  type Username,
} from './messages.ts';
import { createReauthentication, type Known } from './reauthentication.ts';
import { formatScramKeys, parseScramKeys, SCRAM_KINDS, type ScramKeys } from './verifier.ts';
import { sameBytes } from '#shared/base/constant-time.ts';

export interface ScramOptions {
  readonly hash: ScramHash;
  readonly realm: string;
  readonly verifiers: Pick<Verifiers, 'find'>;
  readonly sessions: Sessions;
  readonly useCounts: UseCounts;
  readonly attempts: Attempts;
  readonly limits: Pick<Limits, 'spend'>;
  /** A secret of 256 bits, the same in all processes, from which salts for unknown names and `sr` are derived. */
  readonly secret: Buffer;
  readonly clock: Clock;
  readonly random: Random;
}

/** The state between client-first-message and client-final-message. */
interface Leg {
  readonly scheme: string;
  readonly realm: string;
  readonly saslname: string;
  readonly bare: string;
  readonly clientNonce: string;
  readonly nonce: string;
  readonly serverFirst: string;
}

/** A client-final-message, and the values that it must match. */
interface Attempt {
  readonly message: ClientFinal;
  readonly bare: string;
  readonly keys: Keys;
  readonly serverFirst: string;
}

interface Keys extends ScramKeys {
  readonly person: Person | undefined;
}

/** Seconds from server-first-message to client-final-message. */
const LEG_LIFETIME = 60;

/** Bytes of the server's part of the nonce: their base64 has no padding, which the client gel requires. */
const NONCE_BYTES = 18;

const SID = /^[\w-]{1,64}$/;

/**
 * Makes SCRAM-SHA-256 or SCRAM-SHA-1 (RFC 7804). An exchange is not bound to a connection. A proof covers neither
 * method nor target nor content, so TLS must protect the confidentiality and integrity of the request. Every refusal
 * has the same fresh challenge, whatever the fault.
 */
export function scram(options: ScramOptions): Scheme {
  const { hash, realm, verifiers, sessions, attempts, secret, random } = options;
  const scheme = `SCRAM-${hash}`;
  const context = `${scheme} ${realm}`;
  const reauthentication = createReauthentication({ ...options, context });

  const invitation = (more: AuthParams = {}): Challenge => ({
    scheme,
    params: { realm, ...reauthentication.invitation(), ...more },
  });

  /**
   * Returns keys for an unknown name: always the same salt, in the same format as all salts, and keys that no
   * password has.
   */
  function nobody(account: string): Keys {
    const derived = (what: string) =>
      createHmac('sha512', secret)
        .update(JSON.stringify([what, scheme, account]))
        .digest();
    const { size } = SCRAM_HASHES[hash];
    return {
      person: undefined,
      salt: derived('salt').subarray(0, SCRAM_SALT_BYTES),
      iterations: SCRAM_ITERATIONS,
      storedKey: derived('stored key').subarray(0, size),
      serverKey: derived('server key').subarray(0, size),
    };
  }

  /** Finds the keys of a name, with the same work for unknown names. */
  async function keysOf({ account }: Username): Promise<Keys> {
    const fallback = nobody(account);
    const written = formatScramKeys(hash, fallback);
    const found = await verifiers.find(SCRAM_KINDS[hash].kind, ALL_REALMS, { name: account });
    const keys = parseScramKeys(hash, found?.value ?? written);
    return found && keys ? { person: found.person, ...keys } : fallback;
  }

  /** Returns ServerSignature and its person; undefined if the proof is wrong. */
  function prove({ message, bare, keys, serverFirst }: Attempt) {
    const signed = [bare, serverFirst, message.withoutProof].join(',');
    const signature = verifyProof(hash, keys, signed, message.proof);
    const { person } = keys;
    return signature === undefined || person === undefined ? undefined : { person, signature };
  }

  function failed({ account }: Username, request: AuthRequest, refusal: Refusal): Verdict {
    attempts.failed(account, request.peer.address);
    return { kind: 'refused', ...refusal };
  }

  async function granted(
    { account, saslname }: Username,
    request: AuthRequest,
    { person, signature }: { readonly person: Person; readonly signature: Buffer },
    { clientNonce, ...known }: Omit<Known, 'saslname'> & { readonly clientNonce: string },
  ): Promise<Verdict> {
    attempts.succeeded(account, request.peer.address);
    await reauthentication.remember(clientNonce, { ...known, saslname }, person.id);
    const data = encodeMessage(`v=${signature.toString('base64')}`);
    return {
      kind: 'granted',
      principal: personPrincipal(realm, person),
      proof: { info: { sid: known.sid, data } },
    };
  }

  async function first(message: ClientFirst, request: AuthRequest): Promise<Verdict> {
    const { user, bare, nonce: clientNonce } = message;
    const tooMany = await attempts.begin(user.account, request.peer.address);
    if (tooMany !== undefined) return tooMany;
    const { salt, iterations } = await keysOf(user);
    const nonce = clientNonce + random(NONCE_BYTES).toString('base64');
    const serverFirst = formatServerFirst(nonce, salt, iterations);
    const { saslname } = user;
    const leg: Leg = { scheme, realm, saslname, bare, clientNonce, nonce, serverFirst };
    const sid = await sessions.put(leg, LEG_LIFETIME);
    return {
      kind: 'continued',
      challenge: { scheme, params: { sid, data: encodeMessage(serverFirst) } },
    };
  }

  /** Returns the leg and removes it. If several messages come for one leg, only one gets it. */
  async function takeLeg(sid: string): Promise<Leg | undefined> {
    if (!SID.test(sid)) return undefined;
    const leg = (await sessions.take(sid)) as Partial<Leg> | null | undefined;
    return leg?.scheme === scheme && leg.realm === realm ? (leg as Leg) : undefined;
  }

  async function final(sid: string, message: ClientFinal, request: AuthRequest): Promise<Verdict> {
    const leg = await takeLeg(sid);
    const user = leg && readUsername(leg.saslname);
    if (leg === undefined || user === undefined) return { kind: 'refused', ...refuse('scram-sid') };
    const { bare, clientNonce, nonce, serverFirst } = leg;
    if (message.nonce !== nonce) return failed(user, request, refuse('scram-nonce'));
    const keys = await keysOf(user);
    const proved = prove({ message, bare, keys, serverFirst });
    if (proved === undefined) return failed(user, request, refuse('scram-proof'));
    return granted(user, request, proved, { clientNonce, bare, sid });
  }

  async function again(message: ClientFinal, request: AuthRequest): Promise<Verdict> {
    const nonce = reauthentication.read(message.nonce);
    const known = nonce && (await reauthentication.recall(nonce.clientNonce));
    const user = known && readUsername(known.saslname);
    if (nonce === undefined || known === undefined || user === undefined) {
      return { kind: 'refused', ...refuse('scram-unknown-nonce') };
    }
    const tooMany = await attempts.begin(user.account, request.peer.address);
    if (tooMany !== undefined) return tooMany;
    const keys = await keysOf(user);
    const { bare } = known;
    const { salt, iterations } = keys;
    const serverFirst = formatServerFirst(message.nonce, salt, iterations);
    const proved = prove({ message, bare, keys, serverFirst });
    if (proved === undefined || nonce.count < iterations)
      return failed(user, request, refuse('scram-proof'));
    const use = nonce.state === 'stale' ? 'forgotten' : await reauthentication.use(nonce);
    if (use === 'forgotten') {
      const challenges = [invitation({ stale: 'true' })];
      return { kind: 'refused', ...refuse('scram-stale'), challenges };
    }
    if (use === 'used') return failed(user, request, refuse('scram-used'));
    return granted(user, request, proved, { ...known, clientNonce: nonce.clientNonce });
  }

  return {
    name: scheme,

    challenge: () => [invitation()],

    async authenticate({ params = {} }, request) {
      if (params['realm'] !== undefined && params['realm'] !== realm)
        return { kind: 'refused', ...refuse('scram-realm', { realm }) };
      const read = readMessage(params);
      if ('refusal' in read) return { kind: 'refused', ...read };
      if ('first' in read) return first(read.first, request);
      const sid = params['sid'];
      return sid === undefined ? again(read.final, request) : final(sid, read.final, request);
    },
  };
}

/**
 * Returns ServerSignature, by which the server shows that it has the keys; undefined if ClientProof does not show
 * that the client knows the password (RFC 5802 section 3).
 */
export function verifyProof(
  hash: ScramHash,
  { storedKey, serverKey }: Pick<ScramKeys, 'storedKey' | 'serverKey'>,
  authMessage: string,
  proof: Buffer,
): Buffer | undefined {
  const { name } = SCRAM_HASHES[hash];
  const clientSignature = createHmac(name, storedKey).update(authMessage).digest();
  const clientKey = proof.map((byte, index) => byte ^ (clientSignature[index] ?? 0));
  const right = sameBytes(createHash(name).update(clientKey).digest(), storedKey);
  return right ? createHmac(name, serverKey).update(authMessage).digest() : undefined;
}
