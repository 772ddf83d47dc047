import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  credentials,
  parseChallenges,
  parseParams,
  quoted,
  token,
  valueOf,
} from '../digest/challenges.ts';
import type { Param } from '../digest/challenges.ts';
import { DOORS, valuesOf } from '../digest/exchange.ts';
import type {
  DoorName,
  Exchange,
  HttpRequest,
  HttpResponse,
  SchemeClient,
} from '../digest/exchange.ts';
import { clientProof, keysOf, serverSignature } from './keys.ts';
import type { Keys, ScramHash } from './keys.ts';
import { encode, parseServerFinal, parseServerFirst, saslname } from './messages.ts';
import { opaqueString, saslprep } from './prepare.ts';

/**
 * client-first-message, client-final-message, and a client-final-message without a first one (section 5.1).
 */
export type Leg = 'first' | 'final' | 'again';

export interface ScramOptions {
  readonly hash: ScramHash;
  readonly username: string;
  readonly password: string;
  /** The server that sends challenges: the origin with 401 (default), or the proxy with 407. */
  readonly at?: DoorName;
  /** Answers challenges of this realm only. */
  readonly realm?: string;
  /** Sends the first message without waiting for a challenge. */
  readonly unprompted?: boolean;
  /** Prepares the password; default: OpaqueString, as RFC 7804 section 2.2 says. */
  readonly normalize?: (password: string) => string;
  /** The c-nonce; default: 144 random bits. */
  readonly nonce?: () => string;
  /**
   * Changes a message before the proof is computed, so that the proof fits it. The last messages come
   * without `p`.
   */
  readonly prepare?: (leg: Leg, message: string) => string;
  /** Changes the sent parameters after the proof was computed. */
  readonly tamper?: (leg: Leg, params: readonly Param[]) => readonly Param[];
}

/** The values of a success that allow reauthentication in one round trip. */
interface Remembered {
  readonly bare: string;
  readonly clientNonce: string;
  readonly salt: string;
  readonly iterations: number;
  readonly keys: Keys;
  /** The nonce-count of the next reauthentication. */
  count: number;
}

interface Proof {
  readonly authMessage: string;
  readonly keys: Keys;
  readonly message: string;
}

/** After a second stale answer in a row the client stops. */
const STALE_RETRIES = 1;

/**
 * A SCRAM client, written from RFC 7804, 5802 and 7677 alone. After a success with an `sr` for the realm,
 * it reauthenticates with that `sr` without a challenge. It leaves `ttl` to the server, which answers
 * stale=true. All reauthentications with an `sr` use the c-nonce of the first authentication, because no
 * other value in them names the person. They run one at a time, because each success increases the count.
 *
 * An answer below 400 must have the server's valid signature. In any other answer a signature is optional,
 * but must be valid. Throws for a false proof and for messages that break the RFCs. A wrong password ends
 * with the server's 401 or 407.
 */
export function scramClient(options: ScramOptions): SchemeClient {
  const door = DOORS[options.at ?? 'origin'];
  const { hash } = options;
  const scheme = `SCRAM-${hash}`;
  const username = saslname(saslprep(options.username));
  const password = (options.normalize ?? opaqueString)(options.password);
  const nonce = options.nonce ?? (() => randomBytes(18).toString('base64'));
  let { realm } = options;
  let sr: string | undefined;
  let remembered: Remembered | undefined;

  async function* exchange(request: HttpRequest): Exchange {
    if (remembered !== undefined && sr !== undefined) return yield* again(request, remembered);
    if (options.unprompted !== true) {
      const response = yield request;
      if (response.status !== door.status || initial(response) === undefined) return response;
      if (remembered !== undefined && sr !== undefined) return yield* again(request, remembered);
    }
    return yield* full(request);
  }

  /** The exchange with all messages (section 5). */
  async function* full(request: HttpRequest): Exchange {
    const first = prepared('first', `n,,n=${username},r=${nonce()}`);
    const [, header = '', bare = ''] = /^([^,]*,[^,]*,)(.*)$/su.exec(first) ?? [];
    const clientNonce = /(?:^|,)r=([^,]*)/u.exec(bare)?.[1] ?? '';
    const asked = yield withParams('first', request, [...realmParam(), data(first)]);
    const challenge = continuation(asked);
    if (challenge === undefined) return refusal(asked);

    const server = parseServerFirst(challenge.data, clientNonce);
    const keys = await keysOf(hash, password, server.salt, server.iterations);
    const said = prepared('final', `c=${encode(header)},r=${server.nonce}`);
    const proof = prove(keys, bare, server.text, said);
    const params = [token('sid', challenge.sid), data(proof.message)];
    const response = yield withParams('final', request, params);
    const granted = check(proof, response, challenge.sid);
    if (granted) {
      const { iterations } = server;
      const salt = server.salt.toString('base64');
      remembered = { bare, clientNonce, salt, iterations, keys, count: iterations };
    }
    return response;
  }

  /** The exchange in one round trip (section 5.1), with a second one if the server finds `sr` stale. */
  async function* again(request: HttpRequest, known: Remembered, retries = 0): Exchange {
    const { bare, clientNonce, salt, iterations, keys } = known;
    const all = `${clientNonce}${known.count}${sr ?? ''}`;
    const said = prepared('again', `c=${encode('n,,')},r=${all}`);
    const proof = prove(keys, bare, `r=${all},s=${salt},i=${iterations}`, said);
    const response = yield withParams('again', request, [...realmParam(), data(proof.message)]);
    if (check(proof, response)) known.count += 1;
    if (response.status !== door.status) return response;
    const stale = initial(response)?.stale === true;
    if (stale && sr !== undefined && retries < STALE_RETRIES) {
      return yield* again(request, known, retries + 1);
    }
    remembered = undefined;
    return response;
  }

  function prove(keys: Keys, bare: string, serverFirst: string, said: string): Proof {
    const authMessage = `${bare},${serverFirst},${said}`;
    const message = `${said},p=${clientProof(hash, keys, authMessage).toString('base64')}`;
    return { authMessage, keys, message };
  }

  /** Reads realm and `sr` from the initial challenge. */
  function initial(response: HttpResponse): { stale: boolean } | undefined {
    const challenge = challenges(response).find(
      ({ params }) => options.realm === undefined || valueOf(params, 'realm') === options.realm,
    );
    if (challenge === undefined) return undefined;
    const ttl = valueOf(challenge.params, 'ttl') ?? '0';
    if (!/^(?:0|[1-9][0-9]*)$/.test(ttl)) throw new Error(`ttl ${ttl}`);
    realm = valueOf(challenge.params, 'realm');
    sr = valueOf(challenge.params, 'sr');
    return { stale: valueOf(challenge.params, 'stale')?.toLowerCase() === 'true' };
  }

  /** The challenge with a server-first-message; undefined if the server does not continue. */
  function continuation(response: HttpResponse): { sid: string; data: string } | undefined {
    if (response.status !== door.status) return undefined;
    for (const { params } of challenges(response)) {
      const [sid, message] = [valueOf(params, 'sid'), valueOf(params, 'data')];
      if (sid !== undefined && message !== undefined) return { sid, data: message };
    }
    return undefined;
  }

  function challenges(response: HttpResponse) {
    const all = parseChallenges(valuesOf(response.fields, door.ask));
    return all.filter((challenge) => challenge.scheme.toUpperCase() === scheme);
  }

  /** Whether the server has proved itself; throws if a required proof is missing, and for a false proof. */
  function check({ keys, authMessage }: Proof, response: HttpResponse, sid?: string): boolean {
    if (response.status === door.status) return false;
    const lines = [...response.fields, ...response.trailers];
    const info = parseParams(valuesOf(lines, door.info));
    const final = valueOf(info, 'data');
    if (final === undefined) {
      refusal(response);
      return false;
    }
    if (sid !== undefined && valueOf(info, 'sid') !== sid) throw new Error('sid is not ours');
    const signature = parseServerFinal(final);
    const expected = serverSignature(hash, keys, authMessage);
    if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
      throw new Error("the server's signature is wrong: it does not know the password");
    }
    return true;
  }

  function prepared(leg: Leg, message: string): string {
    return options.prepare?.(leg, message) ?? message;
  }

  function realmParam(): readonly Param[] {
    return realm === undefined ? [] : [quoted('realm', realm)];
  }

  function withParams(leg: Leg, request: HttpRequest, params: readonly Param[]): HttpRequest {
    const sent = credentials(scheme, options.tamper?.(leg, params) ?? params);
    return { ...request, fields: [...request.fields, [door.answer, sent]] };
  }

  return { exchange };
}

/** Quoted, because base64 can have characters that a token cannot (RFC 9110 section 11.2). */
function data(message: string): Param {
  return quoted('data', encode(message));
}

/** An answer without a proof, which must be an error. */
function refusal(response: HttpResponse): HttpResponse {
  if (response.status < 400) throw new Error("the server's signature is missing");
  return response;
}
