import { createHash } from 'node:crypto';
import { blindRsa, readSpki } from './blind-rsa.ts';
import type { Blinded } from './blinded.ts';
import { toOctets } from './numbers.ts';
import type { Random } from './numbers.ts';
import { blindVoprf } from './voprf.ts';

type Blind = (publicKey: Uint8Array, input: Uint8Array, random: Random) => Blinded;

/** The protocols by token type (RFC 9578 section 8.2). */
const PROTOCOLS: Readonly<Record<number, Blind>> = {
  0x0001: blindVoprf,
  0x0002: (spki, input, random) => blindRsa(readSpki(spki), input, random),
};

/** One run of the protocol, for one token. */
export interface Issuance {
  /** The authenticator's input: the token without its authenticator (RFC 9577 section 2.2.3). */
  readonly input: Buffer;
  /** The TokenRequest (RFC 9578 sections 5.1 and 6.1). */
  readonly request: Buffer;
  /** Makes the Token (RFC 9577 section 2.2.1) from a TokenResponse; throws if the response is wrong. */
  finish(response: Uint8Array): Buffer;
}

export function isSupported(type: number): boolean {
  return type in PROTOCOLS;
}

/**
 * Begins an issuance for a TokenChallenge. The type of the challenge decides on the protocol and on the
 * encoding of the key.
 */
export function beginIssuance(
  challenge: Uint8Array,
  publicKey: Uint8Array,
  random: Random,
): Issuance {
  const type = Buffer.from(challenge).readUInt16BE();
  const blind = PROTOCOLS[type];
  if (blind === undefined) throw new Error(`token type ${type}`);
  const keyId = sha256(publicKey);
  const input = Buffer.concat([toOctets(type, 2), random(32), sha256(challenge), keyId]);
  const { request, finalize } = blind(publicKey, input, random);
  return {
    input,
    request: Buffer.concat([toOctets(type, 2), keyId.subarray(-1), request]),
    finish: (response) => Buffer.concat([input, finalize(response)]),
  };
}

function sha256(octets: Uint8Array): Buffer {
  return createHash('sha256').update(octets).digest();
}
