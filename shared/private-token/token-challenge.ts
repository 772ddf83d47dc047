import { createHash } from 'node:crypto';
import { canonicalServerName } from './server-name.ts';

/** A TokenChallenge (RFC 9577 section 2.1.1). */
export interface TokenChallenge {
  /** Any type; token-types.ts has the supported types. */
  readonly type: number;
  /** `issuer_name`, a server name. */
  readonly issuer: string;
  /** `redemption_context`: 32 octets, or none for a token that is bound to no context. */
  readonly context: Uint8Array;
  /** `origin_info`: the server names at which the token is valid; empty for all origins. */
  readonly origins: readonly string[];
}

const CONTEXT_LENGTHS: ReadonlySet<number> = new Set([0, 32]);

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

/**
 * Encodes a challenge. Throws TypeError for a challenge that `parseChallenge` refuses, RangeError for a type or
 * length over 16 bits.
 */
export function encodeChallenge(challenge: TokenChallenge): Buffer {
  if (!isWellFormed(challenge)) throw new TypeError('not a TokenChallenge');
  const { type, issuer, context, origins } = challenge;
  const names = origins.join(',');
  return Buffer.concat([
    uint16(type),
    uint16(issuer.length),
    Buffer.from(issuer),
    Buffer.of(context.length),
    context,
    uint16(names.length),
    Buffer.from(names),
  ]);
}

/**
 * Parses a challenge. Returns undefined if it is malformed: truncated, with octets behind it, with a context of
 * another length, or with an invalid name. Names keep their spelling; `canonicalServerName` makes them comparable.
 */
export function parseChallenge(bytes: Uint8Array): TokenChallenge | undefined {
  const rest = new Reader(bytes);
  const type = rest.uint(2);
  const issuer = rest.opaque(2)?.toString('latin1');
  const context = rest.opaque(1);
  const names = rest.opaque(2)?.toString('latin1');
  if (type === undefined || issuer === undefined || context === undefined) return undefined;
  if (names === undefined || !rest.done) return undefined;
  const challenge = { type, issuer, context, origins: names === '' ? [] : names.split(',') };
  return isWellFormed(challenge) ? challenge : undefined;
}

function isWellFormed({ issuer, context, origins }: TokenChallenge): boolean {
  const names = [issuer, ...origins];
  return (
    CONTEXT_LENGTHS.has(context.length) &&
    names.every((name) => canonicalServerName(name) !== undefined)
  );
}

/** Returns `challenge_digest` (RFC 9577 section 2.2.1) of an encoded challenge. */
export function challengeDigest(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** Reads the presentation language of TLS (RFC 8446 section 3); returns undefined if octets are missing. */
class Reader {
  #rest: Buffer;

  constructor(bytes: Uint8Array) {
    this.#rest = Buffer.from(bytes);
  }

  get done(): boolean {
    return this.#rest.length === 0;
  }

  uint(length: number): number | undefined {
    return this.#take(length)?.readUIntBE(0, length);
  }

  /** Reads a vector after its length, which itself has `prefix` octets. */
  opaque(prefix: number): Buffer | undefined {
    const length = this.uint(prefix);
    return length === undefined ? undefined : this.#take(length);
  }

  #take(length: number): Buffer | undefined {
    if (this.#rest.length < length) return undefined;
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}
