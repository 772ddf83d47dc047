import { randomBytes, sign } from 'node:crypto';
import { credentials, parseChallenges, quoted, valueOf } from '../digest/challenges.ts';
import type { Param } from '../digest/challenges.ts';
import { DOORS, valuesOf } from '../digest/exchange.ts';
import type {
  DoorName,
  Exchange,
  HttpRequest,
  HttpResponse,
  SchemeClient,
} from '../digest/exchange.ts';
import type { HobaKey } from './keys.ts';
import { encodeResult, encodeToBeSigned, originOf } from './to-be-signed.ts';
import type { ToBeSigned } from './to-be-signed.ts';

export interface HobaOptions {
  readonly key: HobaKey;
  /** The server's URL. The port is added if it is missing. */
  readonly origin: string;
  /** Answers 401 (default), or 407. */
  readonly at?: DoorName;
  /** Answers challenges of this realm only, because a key is for one realm. */
  readonly realm?: string;
  /** Default: 64 random bits. */
  readonly nonce?: () => string;
  /** Changes the signed fields, and with them `result`. */
  readonly prepare?: (fields: ToBeSigned) => ToBeSigned;
  /** Signs; default: with RSA-SHA256, which has number 0. */
  readonly sign?: (octets: Buffer, key: HobaKey) => Buffer;
  /** Changes the sent parameters after the signature was made. */
  readonly tamper?: (params: readonly Param[]) => readonly Param[];
}

export interface Challenge {
  readonly challenge: string;
  readonly realm?: string | undefined;
  /** Seconds; 0 allows a single answer. */
  readonly maxAge: number;
}

const SCHEME = 'HOBA';
const RSA_SHA256 = '0';
export const BASE64URL_CHARS = /^[0-9A-Za-z\-_=]+$/;

/**
 * A HOBA-http client, written from RFC 7486 alone. It answers the first suitable challenge. `signed` can
 * answer a valid challenge again, or a challenge of getchal. A refused signature ends with the server's
 * next 401 or 407.
 */
export function hobaClient(options: HobaOptions): SchemeClient {
  const at = options.at ?? 'origin';

  async function* exchange(request: HttpRequest): Exchange {
    const response = yield request;
    if (response.status !== DOORS[at].status) return response;
    const challenge = challengesIn(response, at).find(
      ({ realm }) => options.realm === undefined || realm === options.realm,
    );
    return challenge === undefined ? response : yield signed(request, challenge, options);
  }

  return { exchange };
}

/** Adds the answer to the challenge to the request (section 2). */
export function signed(
  request: HttpRequest,
  { challenge, realm = '' }: Pick<Challenge, 'challenge' | 'realm'>,
  options: HobaOptions,
): HttpRequest {
  const { key, origin, at = 'origin' } = options;
  const honest: ToBeSigned = {
    nonce: options.nonce?.() ?? randomBytes(8).toString('base64url'),
    alg: RSA_SHA256,
    origin: originOf(origin),
    realm,
    kid: key.kid,
    challenge,
  };
  const fields = options.prepare?.(honest) ?? honest;
  const octets = encodeToBeSigned(fields);
  const signature = options.sign?.(octets, key) ?? sign('sha256', octets, key.privateKey);
  const params = [quoted('result', encodeResult(fields, signature))];
  const sent = credentials(SCHEME, options.tamper?.(params) ?? params);
  return { ...request, fields: [...request.fields, [DOORS[at].answer, sent]] };
}

/**
 * Reads the challenges (section 3). Throws for a malformed challenge: the attempt must be abandoned
 * (section 2).
 */
export function challengesIn(
  response: HttpResponse,
  at: DoorName = 'origin',
): readonly Challenge[] {
  return parseChallenges(valuesOf(response.fields, DOORS[at].ask))
    .filter(({ scheme }) => scheme.toUpperCase() === SCHEME)
    .map(({ params }) => {
      const challenge = valueOf(params, 'challenge') ?? '';
      const maxAge = valueOf(params, 'max-age') ?? '';
      const realm = valueOf(params, 'realm');
      if (!BASE64URL_CHARS.test(challenge)) throw new SyntaxError(`challenge ${challenge}`);
      if (!/^[0-9]{1,9}$/.test(maxAge)) throw new SyntaxError(`max-age ${maxAge}`);
      return { challenge, realm, maxAge: Number(maxAge) };
    });
}
