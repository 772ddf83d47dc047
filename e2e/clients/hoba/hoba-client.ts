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
  /** The server, as a URL; the port is added if it has none. */
  readonly origin: string;
  /** At 401 (default), or at 407. */
  readonly at?: DoorName;
  /** Answers challenges of this realm only, since a key is good for one. */
  readonly realm?: string;
  /** Default: 64 random bits. */
  readonly nonce?: () => string;
  /** Changes what is signed; `result` follows it. */
  readonly prepare?: (fields: ToBeSigned) => ToBeSigned;
  /** Signs; default: RSA-SHA256, which has number 0. */
  readonly sign?: (octets: Buffer, key: HobaKey) => Buffer;
  /** Changes the parameters as they are sent, after they were signed. */
  readonly tamper?: (params: readonly Param[]) => readonly Param[];
}

export interface Challenge {
  readonly challenge: string;
  readonly realm?: string | undefined;
  /** Seconds; 0 is for one answer alone. */
  readonly maxAge: number;
}

const SCHEME = 'HOBA';
const RSA_SHA256 = '0';
export const BASE64URL_CHARS = /^[0-9A-Za-z\-_=]+$/;

/**
 * A client of HOBA-http, written from RFC 7486 alone. It answers the first challenge that it may; one
 * that is still good can be answered again with `signed`, as can one of getchal. A signature that is
 * not believed ends in the server's next 401 or 407.
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

/** The request with an answer to the challenge (section 2). */
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

/** Section 3. Throws at one that is malformed: the attempt is to be abandoned (section 2). */
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
