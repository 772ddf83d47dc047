import { hash } from 'node:crypto';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { PROOF_WINDOW, proofMemory } from '#shared/jose/proof-life.ts';
import { BadSignature, type SignedRequest } from '#shared/signatures/message.ts';
import type { Policy } from '#shared/signatures/policy.ts';
import { type Claimed, claimedSignature, verifySignature } from '#shared/signatures/verify.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import { digestRefusal, HASHES } from './content-digest.ts';
import type { GnapKey } from './key.ts';

/** A request as GNAP demands that it is signed. */
export interface ProvedRequest {
  readonly message: SignedRequest;
  /** Whether it comes with an access token, which then has to be covered. */
  readonly hasToken: boolean;
  /** Returns the digest of the octets of the content as they were received, by a hash of `node:crypto`. */
  readonly contentDigest?: (hash: string) => Awaitable<Buffer>;
}

/** The parts that a request may have, and that its signature must then cover. */
interface Demands {
  readonly hasToken: boolean;
  readonly hasContent: boolean;
}

export interface ProveOptions {
  readonly replay: Pick<Replay, 'unique'>;
  /** Seconds since the epoch. */
  readonly now: number;
  /**
   * Whether the same signature counts once. Clients send no nonce, and two equal requests within a second have the same
   * Ed25519 signature: so a resource server lets safe requests repeat one.
   */
  readonly once: boolean;
}

/** Returns what RFC 9635 section 7.3.1 demands of the signature of a request. */
export function gnapPolicy({ hasToken, hasContent }: Demands): Policy {
  return {
    covered: [
      '"@method"',
      '"@target-uri"',
      ...(hasContent ? ['"content-digest"'] : []),
      ...(hasToken ? ['"authorization"'] : []),
    ],
    tag: 'gnap',
    required: ['keyid'],
    refused: ['alg'],
    window: PROOF_WINDOW,
  };
}

const MEMORY = proofMemory(2 * PROOF_WINDOW);

/**
 * Checks that the sender of a request has the private key (RFC 9635 section 7.3.1). Throws `BadSignature` if not.
 * Nothing is remembered of a request whose signature or content is wrong.
 */
export async function prove(
  { message, hasToken, contentDigest }: ProvedRequest,
  key: GnapKey,
  { replay, now, once }: ProveOptions,
): Promise<void> {
  const claimed = claimedSignature(
    message,
    gnapPolicy({ hasToken, hasContent: contentDigest !== undefined }),
    now,
  );
  if (claimed.params.get('keyid')?.value !== key.kid) {
    throw new BadSignature('keyid is not the kid of the key');
  }
  verifySignature(claimed, key);
  if (contentDigest !== undefined) {
    const actual = await contentDigest(HASHES[key.digest]);
    const why = digestRefusal(message.lines('content-digest'), key.digest, actual);
    if (why !== undefined) throw new BadSignature(why);
  }
  await refuseReplay(claimed, key, replay, once);
}

/**
 * A replay has the same signature base and key. Its signature may have other octets: ECDSA has a second valid one. A
 * nonce is unique for its key, whatever else is signed.
 */
async function refuseReplay(
  { base, params }: Claimed,
  { thumbprint }: GnapKey,
  replay: ProveOptions['replay'],
  once: boolean,
): Promise<void> {
  const nonce = params.get('nonce')?.value;
  const used = [
    ...(once ? [`base ${hash('sha256', base, 'base64url')}`] : []),
    ...(nonce === undefined ? [] : [`nonce ${String(nonce)}`]),
  ];
  for (const one of used) {
    if (!(await replay.unique('gnap', `${thumbprint} ${one}`, MEMORY))) {
      throw new BadSignature('the signature or its nonce was used before');
    }
  }
}
