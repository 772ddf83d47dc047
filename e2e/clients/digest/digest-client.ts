import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  credentials,
  paramOf,
  parseChallenges,
  parseParams,
  quoted,
  token,
  valueOf,
} from './challenges.ts';
import type { Param } from './challenges.ts';
import { DOORS, valuesOf } from './exchange.ts';
import type { DoorName, Exchange, HttpRequest, HttpResponse, SchemeClient } from './exchange.ts';
import {
  isAlgorithm,
  isSession,
  passwordKey,
  responseOf,
  sessionKey,
  userhashOf,
} from './response.ts';
import type { Claims, DigestAlgorithm } from './response.ts';

export interface DigestOptions {
  readonly username: string;
  readonly password: string;
  /** The server that sends challenges: the origin with 401 (default), or the proxy with 407. */
  readonly at?: DoorName;
  /** Answers challenges of this algorithm only; default: the first known algorithm (section 3.7). */
  readonly algorithm?: DigestAlgorithm;
  /** Answers challenges of this realm only. */
  readonly realm?: string;
  /** Default: auth if it is offered, else auth-int. */
  readonly qop?: 'auth' | 'auth-int';
  /** False sends the plain name, even if the server accepts a hash. */
  readonly userhash?: boolean;
  /**
   * The nonce in H(A1) of a -sess algorithm after a nextnonce: the session's first nonce, as section 3.4.2
   * says (default), or the current nonce, as curl and other clients do.
   */
  readonly sessionNonce?: 'first' | 'current';
  /**
   * False accepts a success without rspauth, which section 3.5 allows to the server. A wrong rspauth is
   * always refused.
   */
  readonly requireProof?: boolean;
  /** Printable ASCII, different each time; default: 144 random bits. */
  readonly cnonce?: () => string;
  /** Changes the claims before the response is computed, so that the response fits them. */
  readonly prepare?: (claims: Claims) => Claims;
  /** Changes the sent parameters after the response was computed. */
  readonly tamper?: (params: readonly Param[]) => readonly Param[];
}

/** The state that is kept from one challenge to the next (section 3.6). */
interface Session {
  readonly algorithm: DigestAlgorithm;
  readonly realm: string;
  readonly qop: string;
  readonly opaque: string | undefined;
  readonly userhash: boolean;
  nonce: string;
  /** The number of requests with this nonce. */
  count: number;
  /** The key of a -sess algorithm, set by its first request. */
  own?: { readonly cnonce: string; key: string };
}

interface Attempt {
  readonly session: Session;
  readonly claims: Claims;
  /** The value H(A1). */
  readonly key: string;
  readonly request: HttpRequest;
}

/** A request is repeated after at most this many stale answers. */
const RETRIES = 2;

/**
 * Whether a sender must quote the parameter (sections 3.3 and 3.5). Other parameters may be quoted or not.
 */
const QUOTED_IN_CHALLENGE = {
  realm: true,
  domain: true,
  nonce: true,
  opaque: true,
  qop: true,
  stale: false,
  algorithm: false,
};
const QUOTED_IN_INFO = { nextnonce: true, rspauth: true, cnonce: true, qop: false, nc: false };

/**
 * A Digest client, written from RFC 7616 alone. It keeps the session and sends credentials without a
 * challenge from the second request on, to any target (it ignores `domain`). Names and passwords are
 * normalized to NFC and UTF-8, with or without `charset`.
 *
 * An answer below 400 must have a right rspauth, unless the options allow otherwise. In any other answer an
 * rspauth is optional, but must be right. Throws for a false proof and for challenges that break the RFC. A
 * wrong password ends with the server's 401 or 407.
 */
export function digestClient(options: DigestOptions): SchemeClient {
  const door = DOORS[options.at ?? 'origin'];
  const username = options.username.normalize('NFC');
  const password = options.password.normalize('NFC');
  const cnonce = options.cnonce ?? (() => randomBytes(18).toString('base64'));
  let current: Session | undefined;

  async function* exchange(request: HttpRequest): Exchange {
    let attempt = current && attemptWith(current, request);
    let response = yield attempt?.request ?? request;
    for (let tries = 0; response.status === door.status && tries < RETRIES; tries += 1) {
      const asked = sessionIn(response);
      if (asked === undefined || (attempt !== undefined && !asked.stale)) {
        current = undefined;
        return response;
      }
      current = asked.session;
      attempt = attemptWith(asked.session, request);
      response = yield attempt.request;
    }
    if (attempt !== undefined && response.status !== door.status) check(attempt, response);
    return response;
  }

  /** The session for the preferred challenge; undefined if there is none. */
  function sessionIn({ fields }: HttpResponse): { session: Session; stale: boolean } | undefined {
    for (const { scheme, params } of parseChallenges(valuesOf(fields, door.ask))) {
      const algorithm = valueOf(params, 'algorithm') ?? 'MD5';
      const realm = valueOf(params, 'realm');
      if (scheme.toLowerCase() !== 'digest' || !isAlgorithm(algorithm)) continue;
      if (options.algorithm !== undefined && options.algorithm !== algorithm) continue;
      if (options.realm !== undefined && options.realm !== realm) continue;
      checkQuotes(params, QUOTED_IN_CHALLENGE);
      const charset = valueOf(params, 'charset') ?? 'UTF-8';
      if (charset.toLowerCase() !== 'utf-8') throw new Error(`charset ${charset}`);
      const session: Session = {
        algorithm,
        realm: realm ?? missing('realm'),
        qop: chooseQop(valueOf(params, 'qop') ?? missing('qop')),
        opaque: valueOf(params, 'opaque'),
        userhash: valueOf(params, 'userhash')?.toLowerCase() === 'true',
        nonce: valueOf(params, 'nonce') ?? missing('nonce'),
        count: 0,
      };
      return { session, stale: valueOf(params, 'stale')?.toLowerCase() === 'true' };
    }
    return undefined;
  }

  function chooseQop(offer: string): string {
    const offered = new Set(offer.split(',').map((value) => value.trim()));
    const wanted = options.qop === undefined ? ['auth', 'auth-int'] : [options.qop];
    const chosen = wanted.find((qop) => offered.has(qop));
    if (chosen === undefined) throw new Error(`of qop the server offers ${offer}`);
    return chosen;
  }

  function attemptWith(session: Session, request: HttpRequest): Attempt {
    session.count += 1;
    const said: Claims = {
      algorithm: session.algorithm,
      username,
      realm: session.realm,
      nonce: session.nonce,
      uri: request.target,
      qop: session.qop,
      nc: session.count.toString(16).padStart(8, '0'),
      cnonce: session.own?.cnonce ?? cnonce(),
    };
    const claims = options.prepare?.(said) ?? said;
    const key = keyOf(session, claims);
    const params = [
      ...nameOf(session, claims),
      quoted('realm', claims.realm),
      quoted('uri', claims.uri),
      token('algorithm', claims.algorithm),
      quoted('nonce', claims.nonce),
      ...(claims.qop === undefined
        ? []
        : [token('nc', claims.nc), quoted('cnonce', claims.cnonce), token('qop', claims.qop)]),
      quoted('response', responseOf(key, claims, request.method, request.content)),
      ...(session.opaque === undefined ? [] : [quoted('opaque', session.opaque)]),
    ];
    const sent = credentials('Digest', options.tamper?.(params) ?? params);
    const fields = [...request.fields, [door.answer, sent] as const];
    return { session, claims, key, request: { ...request, fields } };
  }

  function keyOf(session: Session, claims: Claims): string {
    if (!isSession(claims.algorithm)) return passwordKey(claims, password);
    session.own ??= { cnonce: claims.cnonce, key: sessionKey(claims, password) };
    if (options.sessionNonce === 'current') session.own.key = sessionKey(claims, password);
    return session.own.key;
  }

  /** The name: hashed (section 3.4.4), plain, or in the notation of RFC 5987 (section 3.4). */
  function nameOf({ userhash }: Session, claims: Claims): readonly Param[] {
    if (userhash && options.userhash !== false) {
      return [quoted('username', userhashOf(claims)), token('userhash', 'true')];
    }
    const name = /^[ -~]*$/.test(claims.username)
      ? quoted('username', claims.username)
      : token('username*', `UTF-8''${extended(claims.username)}`);
    return userhash ? [name, token('userhash', 'false')] : [name];
  }

  /** Checks rspauth (section 3.5), and accepts nextnonce from a server that has proved itself. */
  function check(attempt: Attempt, response: HttpResponse): void {
    const { session, claims, key } = attempt;
    const lines = [...response.fields, ...response.trailers];
    const info = parseParams(valuesOf(lines, door.info));
    checkQuotes(info, QUOTED_IN_INFO);
    const rspauth = valueOf(info, 'rspauth');
    if (rspauth === undefined) {
      if (response.status < 400 && options.requireProof !== false) missing('rspauth');
      return;
    }
    for (const name of ['cnonce', 'nc'] as const) {
      if (valueOf(info, name) !== claims[name]) throw new Error(`${name} is not the request's`);
    }
    if (valueOf(info, 'qop') !== claims.qop) throw new Error("qop is not the request's");
    if (!same(rspauth, responseOf(key, claims, '', response.content))) {
      throw new Error('rspauth is wrong: the server does not know the password');
    }
    const next = valueOf(info, 'nextnonce');
    if (next === undefined || next === session.nonce) return;
    session.nonce = next;
    session.count = 0;
  }

  return { exchange };
}

function checkQuotes(params: readonly Param[], rule: Readonly<Record<string, boolean>>): void {
  for (const [name, quotes] of Object.entries(rule)) {
    const param = paramOf(params, name);
    if (param !== undefined && param.quoted !== quotes) {
      throw new Error(`${name} has to stand ${quotes ? 'in' : 'without'} quotes`);
    }
  }
}

/** Encodes value-chars (RFC 5987 section 3.2.1) in UTF-8. */
function extended(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function same(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function missing(name: string): never {
  throw new Error(`${name} is missing`);
}
