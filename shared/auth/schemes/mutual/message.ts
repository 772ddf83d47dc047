import { isUtf8 } from 'node:buffer';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { parseExtValue } from '#shared/http/auth/ext-value.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import { MUTUAL_ALGORITHMS, type MutualAlgorithmName, type NumberFormat } from './algorithms.ts';

/** The terms of a challenge, which a client must send back unchanged (RFC 8120 sections 4.2 and 4.4). */
export interface MutualTerms {
  readonly algorithm: MutualAlgorithmName;
  readonly validation: string;
  /** auth-scope. */
  readonly scope: string;
  readonly realm: string;
}

/** The message req-KEX-C1 (RFC 8120 section 4.2). */
export interface KeyExchange {
  readonly user: string;
  /** OCTETS of a possible K_c1. */
  readonly clientValue: Buffer;
}

/** The message req-VFY-C (RFC 8120 section 4.4). */
export interface KeyVerification {
  /** The session id, in lower case. */
  readonly sid: string;
  readonly nc: bigint;
  /** OCTETS(VK_c). */
  readonly proof: Buffer;
}

export const SID_OCTETS = 16;
const SID = new RegExp(`^[0-9a-f]{${2 * SID_OCTETS}}$`);
/** Matches an integer without leading zeros (section 3.2.3), with at most as many digits as an accepted value has. */
const INTEGER = /^(?:0|[1-9][0-9]{0,38})$/;
/** Longest name in UTF-16 code units: enough for the 64 letters of the longest name that can exist. */
const LONGEST_NAME = 128;
/** Match the names of the server's numbers, and of the client's (section 4). */
const OF_SERVER = /^(?:ks[0-9]+|vks[0-9]*)$/;
const OF_CLIENT = /^(?:kc[0-9]+|vkc[0-9]*)$/;

/** The parameters of a challenge that a message repeats. */
const TERMS: ReadonlySet<string> = new Set([
  'version',
  'algorithm',
  'validation',
  'auth-scope',
  'realm',
]);

/** Refuses a message for a parameter that `readMessage` names. */
export const refusalOfMessage = (param: string): Refusal =>
  refuse(TERMS.has(param) ? 'mutual-terms' : 'mutual-form', { param });

/** Reads a message. Returns the name of a parameter that is missing or does not match the terms. */
export function readMessage(
  params: AuthParams,
  { algorithm, validation, scope, realm }: MutualTerms,
): KeyExchange | KeyVerification | string {
  if (params['version'] !== '1') return 'version';
  if (params['algorithm']?.toLowerCase() !== algorithm) return 'algorithm';
  if (params['validation']?.toLowerCase() !== validation) return 'validation';
  if (params['auth-scope'] !== scope) return 'auth-scope';
  if (params['realm'] !== realm) return 'realm';
  const names = Object.keys(params);
  const server = names.find((name) => OF_SERVER.test(name));
  if (server !== undefined) return server;
  const [number = 'kc1 or vkc', another] = names.filter((name) => OF_CLIENT.test(name));
  if (another !== undefined) return another;
  if (number === 'kc1') return readKeyExchange(params, algorithm);
  return number === 'vkc' ? readKeyVerification(params, algorithm) : number;
}

function readKeyExchange(params: AuthParams, algorithm: MutualAlgorithmName): KeyExchange | string {
  const { format, octets } = MUTUAL_ALGORITHMS[algorithm];
  const user = readName(params);
  if (user === undefined) return 'user';
  const clientValue = parseFixedNumber(format, params['kc1'] ?? '', octets);
  return clientValue === undefined ? 'kc1' : { user, clientValue };
}

function readKeyVerification(
  params: AuthParams,
  algorithm: MutualAlgorithmName,
): KeyVerification | string {
  const { format, hashOctets } = MUTUAL_ALGORITHMS[algorithm];
  const sid = params['sid']?.toLowerCase() ?? '';
  if (!SID.test(sid)) return 'sid';
  const nc = params['nc'] ?? '';
  if (!INTEGER.test(nc)) return 'nc';
  const proof = parseFixedNumber(format, params['vkc'] ?? '', hashOctets);
  return proof === undefined ? 'vkc' : { sid, nc: BigInt(nc), proof };
}

/** Reads `user` in UTF-8, or `user*` for a name that is not ASCII, never both (RFC 8120 sections 3.1 and 3.2.2). */
function readName({ user, 'user*': extended }: AuthParams): string | undefined {
  if ((user === undefined) === (extended === undefined)) return undefined;
  const name = user === undefined ? readExtended(extended ?? '') : readUtf8(user);
  if (name === undefined || name === '' || name.startsWith('\ufeff')) return undefined;
  return name.length <= LONGEST_NAME ? name : undefined;
}

/** Reads an extended value without a language, which must not be all ASCII (RFC 8120 section 3.1). */
function readExtended(value: string): string | undefined {
  const text = /^utf-8''/i.test(value) ? parseExtValue(value) : undefined;
  return text !== undefined && /[^\0-\x7f]/.test(text) ? text : undefined;
}

/** Reads a quoted-string in UTF-8, in which each character is an octet, as node:http gives it. */
function readUtf8(octets: string): string | undefined {
  const bytes = Buffer.from(octets, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/**
 * Parses a number of exactly this many octets (RFC 8120 section 3.2.3). Returns undefined for anything else, such as
 * another padding or spare bits that are not zero. Hexadecimal digits may have either case.
 */
function parseFixedNumber(format: NumberFormat, text: string, octets: number): Buffer | undefined {
  const bytes = Buffer.from(text, format);
  const same = format === 'hex' ? text.toLowerCase() : text;
  return bytes.length === octets && bytes.toString(format) === same ? bytes : undefined;
}
