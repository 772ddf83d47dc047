import { toInteger, toOctets } from './numbers.ts';

/** The TokenChallenge of RFC 9577 section 2.1.1. */
export interface TokenChallenge {
  readonly type: number;
  readonly issuer: string;
  /** Empty or 32 octets. */
  readonly context: Buffer;
  /** The origins that accept the tokens; empty: any origin. */
  readonly origins: readonly string[];
}

/** A server name (section 2.1.1.1): a host with an optional port, without userinfo. */
const SERVER_NAME = /^(?:[A-Za-z0-9][A-Za-z0-9.\-_]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/;

export function encodeChallenge({ type, issuer, context, origins }: TokenChallenge): Buffer {
  const info = Buffer.from(origins.join(','), 'ascii');
  return Buffer.concat([
    toOctets(type, 2),
    toOctets(issuer.length, 2),
    Buffer.from(issuer, 'ascii'),
    toOctets(context.length, 1),
    context,
    toOctets(info.length, 2),
    info,
  ]);
}

/** Undefined if the challenge is malformed, because section 2.1.3 says to ignore it. */
export function readChallenge(octets: Buffer): TokenChallenge | undefined {
  let at = 0;
  const take = (length: number): Buffer => octets.subarray(at, (at += length));
  const integer = (length: number): number => Number(toInteger(take(length)));
  const type = integer(2);
  const issuer = take(integer(2)).toString('latin1');
  const context = take(integer(1));
  const info = take(integer(2)).toString('latin1');
  const origins = info === '' ? [] : info.split(',');
  const wellFormed =
    at === octets.length &&
    (context.length === 0 || context.length === 32) &&
    [issuer, ...origins].every((name) => SERVER_NAME.test(name));
  return wellFormed ? { type, issuer, context, origins } : undefined;
}
