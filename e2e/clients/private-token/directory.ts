import { decode } from './base64url.ts';

/** The path of the directory (RFC 9578 section 4). */
export const DIRECTORY_PATH = '/.well-known/private-token-issuer-directory';

export interface DirectoryKey {
  readonly type: number;
  readonly key: Buffer;
  /** Seconds since the epoch. */
  readonly notBefore: number;
}

export interface Directory {
  readonly requestUrl: URL;
  /** The keys in order of preference. */
  readonly keys: readonly DirectoryKey[];
}

/** Throws if the content is not a directory. Unknown key types are allowed. */
export function readDirectory(content: Buffer, url: string): Directory {
  const document: unknown = JSON.parse(content.toString());
  const { 'issuer-request-uri': uri, 'token-keys': keys } = members(document);
  if (typeof uri !== 'string' || !Array.isArray(keys)) throw new Error('not a directory');
  return { requestUrl: new URL(uri, url), keys: keys.map(readKey) };
}

/** The first key that has started. */
export function preferredKey({ keys }: Directory, type: number, now: number): Buffer {
  const preferred = keys.find((key) => key.type === type && key.notBefore <= now);
  if (preferred === undefined) throw new Error(`no key of type ${type}`);
  return preferred.key;
}

function readKey(document: unknown): DirectoryKey {
  const { 'token-type': type, 'token-key': key, 'not-before': notBefore = 0 } = members(document);
  if (!isInteger(type) || typeof key !== 'string' || !isInteger(notBefore)) {
    throw new Error('not a key of a directory');
  }
  return { type, key: decode(key), notBefore };
}

function members(document: unknown): Readonly<Record<string, unknown>> {
  if (typeof document !== 'object' || document === null) throw new Error('not an object');
  return { ...document };
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
