import { isObject, type JsonObject } from '#shared/jose/compact-jws.ts';
import { decodeBase64url, encodePadded } from './base64url.ts';
import { blindRsaPublicKey } from './blind-rsa.ts';
import { type TokenKey, tokenKeyId } from './token-key.ts';
import { BLIND_RSA, type TokenType, tokenType, VOPRF } from './token-types.ts';
import { isVoprfPublicKey } from './voprf-key.ts';

/** The path of the directory, at the origin that the issuer's name determines (RFC 9578 section 4). */
export const DIRECTORY_PATH = '/.well-known/private-token-issuer-directory';

/** Media types (RFC 9578 section 8.3). */
export const DIRECTORY_TYPE = 'application/private-token-issuer-directory';
export const REQUEST_TYPE = 'application/private-token-request';
export const RESPONSE_TYPE = 'application/private-token-response';

export interface DirectoryKey extends TokenKey {
  /** Seconds since the epoch from which the key is used. */
  readonly notBefore?: number;
  /**
   * Seconds since the epoch from which no token of the key is valid. RFC 9578 has no such member, so other origins
   * ignore it. Origins of this product use it to decide how long they must remember spent tokens.
   */
  readonly notAfter?: number;
}

/** The directory object of an issuer (RFC 9578 section 4). */
export interface IssuerDirectory {
  /** Issuer Request URL, absolute. */
  readonly requestUrl: string;
  /** The keys, in each type the issuer's preferred key first. */
  readonly keys: readonly DirectoryKey[];
}

/** The most keys of a directory: an issuer has a few of each type, and each key costs a check. */
const MOST_KEYS = 64;
/** The last second that an ECMAScript Date can hold. */
const LAST_SECOND = 8_640_000_000_000;

const IS_PUBLIC_KEY: Readonly<Record<TokenType, (bytes: Buffer) => boolean>> = {
  [VOPRF]: isVoprfPublicKey,
  [BLIND_RSA]: (bytes) => blindRsaPublicKey(bytes) !== undefined,
};

/**
 * Returns the directory as JSON. The same directory always gives the same octets, so that the octets do not
 * distinguish clients.
 */
export function formatDirectory({ requestUrl, keys }: IssuerDirectory): string {
  return JSON.stringify({
    'issuer-request-uri': requestUrl,
    'token-keys': keys.map(({ type, publicKey, notBefore, notAfter }) => ({
      'token-type': type,
      'token-key': encodePadded(publicKey),
      'not-before': notBefore,
      'not-after': notAfter,
    })),
  });
}

/**
 * Parses the directory from `url`. Keys of unknown types and malformed keys are ignored; of a repeated key the first
 * entry is used. Throws Error with the reason if the directory cannot be used: its request URL must be at its own
 * https origin.
 */
export function parseDirectory(document: unknown, url: string): IssuerDirectory {
  if (!isObject(document)) throw new Error('the directory is not a JSON object');
  const entries = document['token-keys'];
  if (!Array.isArray(entries)) throw new Error('the directory has no list of keys');
  if (entries.length > MOST_KEYS) throw new Error(`more than ${MOST_KEYS} keys in the directory`);
  const keys = new Map<string, DirectoryKey>();
  for (const entry of entries.filter(isObject)) {
    const key = parseKey(entry);
    if (key === undefined) continue;
    const name = `${key.type} ${key.id.toString('hex')}`;
    if (!keys.has(name)) keys.set(name, key);
  }
  return {
    requestUrl: parseRequestUrl(document['issuer-request-uri'], url),
    keys: [...keys.values()],
  };
}

function parseRequestUrl(value: unknown, base: string): string {
  const url = typeof value === 'string' ? URL.parse(value, base) : null;
  if (url === null) throw new Error('the request URL is not a URL');
  if (url.protocol !== 'https:' || url.origin !== new URL(base).origin) {
    throw new Error('the request URL is not at the https origin of the directory');
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('the request URL holds credentials');
  }
  return url.href;
}

function parseKey(entry: JsonObject): DirectoryKey | undefined {
  const { 'token-type': value, 'token-key': text } = entry;
  const type = typeof value === 'number' ? tokenType(value) : undefined;
  const publicKey = typeof text === 'string' ? decodeBase64url(text) : undefined;
  if (type === undefined || publicKey === undefined) return undefined;
  if (!IS_PUBLIC_KEY[type](publicKey)) return undefined;
  const { 'not-before': notBefore, 'not-after': notAfter } = entry;
  if (![notBefore, notAfter].every((time) => time === undefined || isSecond(time)))
    return undefined;
  return {
    type,
    publicKey,
    id: tokenKeyId(publicKey),
    ...(isSecond(notBefore) && { notBefore }),
    ...(isSecond(notAfter) && { notAfter }),
  };
}

function isSecond(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= LAST_SECOND;
}
