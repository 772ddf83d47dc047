import { isUtf8 } from 'node:buffer';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { parseExtValue } from '#shared/http/auth/ext-value.ts';

/** The parameters of Digest credentials (RFC 7616 section 3.4), parsed but not verified. */
export interface DigestParams {
  /** The name, or with `userhash` its hash in hexadecimal. */
  readonly username: string;
  readonly userhash: boolean;
  readonly realm: string;
  readonly uri: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  /** The algorithm; MD5 if the client sent none (section 3.3). */
  readonly algorithm: string;
  readonly response: string;
  /** Undefined in credentials without `qop`, such as those of RFC 2069 clients. */
  readonly protection: Protection | undefined;
}

export interface Protection {
  readonly qop: string;
  /** `nc` as received, since the response hashes that text. */
  readonly nc: string;
  /** The number in `nc`, at least 1. */
  readonly count: number;
  readonly cnonce: string;
}

const HEX = /^[0-9a-f]{32,64}$/;
const NC = /^[0-9A-Fa-f]{8}$/;
/**
 * Matches a cnonce: ASCII only (section 3.4), of bounded length, since the server sends it back in
 * Authentication-Info.
 */
const CNONCE = /^[ -~]{1,256}$/;

/**
 * Parses the parameters. If a parameter has an improper value, or is required and missing, it returns the parameter's
 * name, and the request gets 400 (section 3.4).
 */
export function parseDigestParams(params: AuthParams): DigestParams | string {
  const { realm, uri, nonce, opaque, algorithm = 'MD5', response } = params;
  const name = readName(params);
  if (typeof name === 'string') return name;
  const protection = readProtection(params);
  if (typeof protection === 'string') return protection;
  if (realm === undefined) return 'realm';
  if (uri === undefined) return 'uri';
  if (nonce === undefined) return 'nonce';
  if (response === undefined || !HEX.test(response)) return 'response';
  return { ...name, realm, uri, nonce, opaque, algorithm, response, protection };
}

/** Reads the name from `username` or `username*`; only `username` may contain a hash (section 3.4). */
function readName({
  username,
  'username*': extended,
  userhash = 'false',
}: AuthParams): Pick<DigestParams, 'username' | 'userhash'> | string {
  if ((username === undefined) === (extended === undefined)) return 'username';
  if (userhash === 'true') {
    return username !== undefined && HEX.test(username) ? { username, userhash: true } : 'username';
  }
  if (userhash !== 'false') return 'userhash';
  const text = username === undefined ? parseExtValue(extended ?? '') : decodeText(username);
  return text === undefined ? 'username*' : { username: text, userhash: false };
}

/**
 * Decodes the text of a quoted-string, in which node:http gives one character for each octet. The text is UTF-8
 * (section 4), or ISO-8859-1, which python-requests sends although it hashes the name in UTF-8.
 */
function decodeText(octets: string): string {
  const bytes = Buffer.from(octets, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : octets;
}

function readProtection({ qop, nc, cnonce }: AuthParams): DigestParams['protection'] | string {
  if (qop === undefined) return undefined;
  const count = nc !== undefined && NC.test(nc) ? Number.parseInt(nc, 16) : 0;
  if (nc === undefined || count === 0) return 'nc';
  return cnonce !== undefined && CNONCE.test(cnonce) ? { qop, nc, count, cnonce } : 'cnonce';
}
