import { isUtf8 } from 'node:buffer';
import type { AuthParams } from '#shared/http/auth/challenge.ts';
import { parseExtValue } from './ext-value.ts';

/** What Digest credentials say (RFC 7616 section 3.4); whether any of it is true is for others. */
export interface DigestParams {
  /** The name, or in hexadecimal its hash when `userhash`. */
  readonly username: string;
  readonly userhash: boolean;
  readonly realm: string;
  readonly uri: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  /** MD5 when it was not sent (section 3.3). */
  readonly algorithm: string;
  readonly response: string;
  /** Undefined in credentials without `qop`, as clients of RFC 2069 send them. */
  readonly protection: Protection | undefined;
}

export interface Protection {
  readonly qop: string;
  /** As received: it is part of what is hashed. */
  readonly nc: string;
  /** The number that `nc` says, 1 or more. */
  readonly count: number;
  readonly cnonce: string;
}

const HEX = /^[0-9a-f]{32,64}$/;
const NC = /^[0-9A-Fa-f]{8}$/;
/** ASCII only (section 3.4); it goes back in Authentication-Info, so not without end. */
const CNONCE = /^[ -~]{1,256}$/;

/** Undefined when a value is improper or one that is required is missing: 400 (section 3.4). */
export function parseDigestParams(params: AuthParams): DigestParams | undefined {
  const { realm, uri, nonce, opaque, algorithm = 'MD5', response } = params;
  const name = readName(params);
  const protection = readProtection(params);
  if (name === undefined || protection === 'malformed') return undefined;
  if (realm === undefined || uri === undefined || nonce === undefined) return undefined;
  if (response === undefined || !HEX.test(response)) return undefined;
  return { ...name, realm, uri, nonce, opaque, algorithm, response, protection };
}

/** Either `username` or `username*`, and only the first can be hashed (section 3.4). */
function readName({
  username,
  'username*': extended,
  userhash = 'false',
}: AuthParams): Pick<DigestParams, 'username' | 'userhash'> | undefined {
  if ((username === undefined) === (extended === undefined)) return undefined;
  if (userhash === 'true') {
    return username !== undefined && HEX.test(username) ? { username, userhash: true } : undefined;
  }
  if (userhash !== 'false') return undefined;
  const text = username === undefined ? parseExtValue(extended ?? '') : decodeText(username);
  return text === undefined ? undefined : { username: text, userhash: false };
}

/**
 * The text of a quoted-string, one character an octet as node:http gives it: UTF-8 (section 4), or
 * ISO-8859-1, in which python-requests sends a name that it has hashed in UTF-8.
 */
function decodeText(octets: string): string {
  const bytes = Buffer.from(octets, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : octets;
}

function readProtection({ qop, nc, cnonce }: AuthParams): DigestParams['protection'] | 'malformed' {
  if (qop === undefined) return undefined;
  if (nc === undefined || cnonce === undefined) return 'malformed';
  const count = NC.test(nc) ? Number.parseInt(nc, 16) : 0;
  return count > 0 && CNONCE.test(cnonce) ? { qop, nc, count, cnonce } : 'malformed';
}
