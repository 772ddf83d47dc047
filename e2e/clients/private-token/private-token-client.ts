/**
 * A PrivateToken client, written from RFC 9576, 9577, 9578, 9474, 9497 and 9380. Its arithmetic is not
 * constant-time: it is for tests only.
 */
import { credentials, parseChallenges, quoted, valueOf } from '../digest/challenges.ts';
import type { Param } from '../digest/challenges.ts';
import { valuesOf } from '../digest/exchange.ts';
import type { Field, HttpRequest, HttpResponse, Send } from '../digest/exchange.ts';
import { decode, encode } from './base64url.ts';
import { DIRECTORY_PATH, preferredKey, readDirectory } from './directory.ts';
import type { Directory } from './directory.ts';
import { beginIssuance, isSupported } from './issuance.ts';
import type { Random } from './numbers.ts';
import { readChallenge } from './token-challenge.ts';
import type { TokenChallenge } from './token-challenge.ts';

/** A challenge that this client may answer. */
export interface Offer {
  readonly challenge: TokenChallenge;
  /** The octets as received, because tokens are bound to their hash. */
  readonly octets: Buffer;
  readonly key: Buffer | undefined;
  /** Seconds. */
  readonly maxAge: number | undefined;
}

export interface Issuer {
  /** The issuer's name. Only this issuer gets the fields below, whatever a challenge names. */
  readonly name: string;
  /** Sends to the issuer's origin. */
  readonly send: Send;
  /** The credentials for token requests; not sent for the directory. */
  readonly fields: readonly Field[];
}

const SCHEME = 'PrivateToken';
const TYPES = {
  directory: 'application/private-token-issuer-directory',
  request: 'application/private-token-request',
  response: 'application/private-token-response',
} as const;

/**
 * RFC 9577 section 2.1.3: returns well-formed challenges of known types for the sender's origin only.
 * Throws for a field or a parameter that breaks its grammar.
 */
export function offersIn({ fields }: HttpResponse, origin: string): readonly Offer[] {
  return parseChallenges(valuesOf(fields, 'WWW-Authenticate'))
    .filter(({ scheme }) => scheme.toLowerCase() === SCHEME.toLowerCase())
    .flatMap(({ params }) => offerIn(params, origin) ?? []);
}

/** Gets a token for an offer. Throws if the issuer refuses or has no valid proof. */
export async function obtain(
  { challenge, octets, key }: Offer,
  issuer: Issuer,
  now: number,
  random: Random,
): Promise<Buffer> {
  if (challenge.issuer.toLowerCase() !== issuer.name.toLowerCase()) {
    throw new Error(`the challenge is for tokens of ${challenge.issuer}`);
  }
  const directory = await directoryOf(issuer);
  // A key that is not in the public directory could identify the client.
  if (
    key !== undefined &&
    !directory.keys.some(({ type, key: known }) => type === challenge.type && known.equals(key))
  ) {
    throw new Error('the key of the challenge is not in the directory');
  }
  const issuance = beginIssuance(
    octets,
    key ?? preferredKey(directory, challenge.type, now),
    random,
  );
  const response = await issuer.send(tokenRequest(directory, issuance.request, issuer.fields));
  return issuance.finish(contentOf(response, TYPES.response));
}

/** Fetches the public directory. */
export async function directoryOf({ name, send }: Issuer): Promise<Directory> {
  const fields: readonly Field[] = [['Accept', TYPES.directory]];
  const content = Buffer.alloc(0);
  const response = await send({ method: 'GET', target: DIRECTORY_PATH, fields, content });
  const url = new URL(DIRECTORY_PATH, `https://${name}`);
  const directory = readDirectory(contentOf(response, TYPES.directory), url.href);
  if (directory.requestUrl.origin !== url.origin) throw new Error('an issuer at two origins');
  return directory;
}

/** The token request of RFC 9578 sections 5.1 and 6.1. */
export function tokenRequest(
  { requestUrl }: Directory,
  content: Buffer,
  fields: readonly Field[],
): HttpRequest {
  const target = requestUrl.pathname + requestUrl.search;
  const types: readonly Field[] = [
    ['Accept', TYPES.response],
    ['Content-Type', TYPES.request],
  ];
  return { method: 'POST', target, fields: [...types, ...fields], content };
}

/** Adds a token to the request (RFC 9577 section 2.2.2), which spends it. */
export function redeem(request: HttpRequest, token: Uint8Array): HttpRequest {
  const authorization = credentials(SCHEME, [quoted('token', encode(token))]);
  return { ...request, fields: [...request.fields, ['Authorization', authorization]] };
}

function offerIn(params: readonly Param[], origin: string): Offer | undefined {
  const octets = decode(valueOf(params, 'challenge') ?? '');
  if (octets.length < 2 || !isSupported(octets.readUInt16BE())) return undefined;
  const challenge = readChallenge(octets);
  if (challenge === undefined) return undefined;
  const names = challenge.origins.map((name) => name.toLowerCase());
  if (names.length > 0 && !names.includes(origin.toLowerCase())) return undefined;
  const key = valueOf(params, 'token-key');
  const maxAge = valueOf(params, 'max-age');
  if (maxAge !== undefined && !/^[0-9]{1,15}$/.test(maxAge)) throw new SyntaxError(maxAge);
  return {
    challenge,
    octets,
    key: key === undefined ? undefined : decode(key),
    maxAge: maxAge === undefined ? undefined : Number(maxAge),
  };
}

function contentOf({ status, fields, content }: HttpResponse, type: string): Buffer {
  const types = valuesOf(fields, 'Content-Type');
  if (status !== 200) throw new Error(`the issuer answers ${status}`);
  if (types.length !== 1 || types[0] !== type) throw new Error(`the issuer sends ${types.join()}`);
  return content;
}
