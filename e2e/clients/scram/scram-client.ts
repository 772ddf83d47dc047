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

/** client-first-message, client-final-message, and the latter without the former (section 5.1). */
export type Leg = 'first' | 'final' | 'again';

export interface ScramOptions {
  readonly hash: ScramHash;
  readonly username: string;
  readonly password: string;
  /** The server that asks: the origin at 401 (default), or the proxy at 407. */
  readonly at?: DoorName;
  /** Answers challenges of this realm only. */
  readonly realm?: string;
  /** Begins with the first message instead of waiting for a challenge. */
  readonly unprompted?: boolean;
  /** Prepares the password; default OpaqueString, as RFC 7804 section 2.2 says. */
  readonly normalize?: (password: string) => string;
  /** c-nonce; default 144 random bits. */
  readonly nonce?: () => string;
  /** Changes a message before it is proved, so that the proof fits it; the last legs come without `p`. */
  readonly prepare?: (leg: Leg, message: string) => string;
  /** Changes the parameters as they are sent, after the proof was computed. */
  readonly tamper?: (leg: Leg, params: readonly Param[]) => readonly Param[];
}

/** The values of a success with which a client authenticates again in one round trip. */
interface Remembered {
  readonly bare: string;
  readonly clientNonce: string;
  readonly salt: string;
  readonly iterations: number;
  readonly keys: Keys;
  /** nonce-count of the next one. */
  count: number;
}

interface Proof {
  readonly authMessage: string;
  readonly keys: Keys;
  readonly message: string;
}

/** A second stale answer in a row means that the server has lost its way. */
const STALE_RETRIES = 1;

/**
 * A client of SCRAM, written from RFC 7804, 5802 and 7677 alone. Once it has authenticated and knows
 * an `sr` of the realm, it authenticates again with that, unasked; `ttl` is left to the server, which
 * answers stale=true. The c-nonce of an authentication is that of all that follow with `sr`: nothing
 * else in them says who asks. Only one of these at a time: the count goes up with each success.
 *
 * An answer below 400 has to prove itself by the server's signature; any other that carries one has to
 * carry the right one. Throws at false proof and at messages that break the RFCs. A wrong password
 * ends in the server's 401 or 407.
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

  /** All legs (section 5). */
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

  /** One round trip (section 5.1); one more when the server finds `sr` stale. */
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

  /** Takes realm and `sr` from the challenge that invites to authenticate. */
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

  /** The challenge with a server-first-message; undefined when the server goes no further. */
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

  /** Whether the server has proved itself; throws when it should have and when it did so falsely. */
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

/** Quoted, for base64 may have characters that no token has (RFC 9110 section 11.2). */
function data(message: string): Param {
  return quoted('data', encode(message));
}

/** An answer without proof, which only an error may be. */
function refusal(response: HttpResponse): HttpResponse {
  if (response.status < 400) throw new Error("the server's signature is missing");
  return response;
}
