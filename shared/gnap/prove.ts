import { hash } from 'node:crypto';
import { sameText } from '#shared/base/constant-time.ts';
import type { Awaitable } from '#shared/base/awaitable.ts';
import { PROOF_WINDOW, proofMemory } from '#shared/jose/proof-life.ts';
import { BadSignature, type SignedRequest } from '#shared/signatures/message.ts';
import type { Policy } from '#shared/signatures/policy.ts';
import { type Claimed, claimedSignature, verifySignature } from '#shared/signatures/verify.ts';
import type { Replay } from '#shared/stores/authentication/replay.ts';
import { refuse } from '#shared/refusals/signatures.ts';
import { digestRefusal, HASHES } from './content-digest.ts';
import type { GnapKey, SignatureKey } from './key.ts';
import { parseUniqueDictionary } from '#shared/http/structured-fields.ts';

/** A request whose sender must prove a key, as GNAP demands. */
export interface ProvedRequest {
  readonly message: SignedRequest;
  /** True if the request has an access token, which must then be covered. */
  readonly hasToken: boolean;
  /**
   * Returns the digest of the octets of the content as received, by a hash of `node:crypto`; without content the
   * digest of an empty text.
   */
  readonly contentDigest: (hash: string) => Awaitable<Buffer>;
  /** True if the request comes from a trusted proxy, whose Client-Cert is trusted (RFC 9440). */
  readonly fromProxy: boolean;
}

/** The optional parts of a request, which its signature must cover if they are present. */
interface Demands {
  readonly hasToken: boolean;
  readonly hasContent: boolean;
}

export interface ProveOptions {
  readonly replay: Pick<Replay, 'unique'>;
  /** Seconds since the epoch. */
  readonly now: number;
  /**
   * True if each signature is accepted only once. A resource server lets safe requests repeat a signature: clients
   * send no nonce, and two equal requests within a second have the same Ed25519 signature.
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
 * Checks that the sender of a request has the private key (RFC 9635 section 7.3). Throws `BadSignature` if not. A
 * request with a wrong signature or content is not remembered.
 */
export async function prove(
  request: ProvedRequest,
  key: GnapKey,
  options: ProveOptions,
): Promise<void> {
  if (key.proof === 'mtls') return proveByCertificate(request, key.thumbprint);
  const { message, hasToken } = request;
  const policy = gnapPolicy({ hasToken, hasContent: isDigested(message) });
  await proveBy(policy, request, key, options);
}

/** Section 7.3.2: TLS covers the whole message, so nothing else needs a check. */
function proveByCertificate({ message, fromProxy }: ProvedRequest, thumbprint: string): void {
  const shown = fromProxy ? certificateThumbprint(message.lines('client-cert')) : undefined;
  if (shown === undefined) throw new BadSignature(refuse('certificate-none'));
  if (!sameText(shown, thumbprint)) throw new BadSignature(refuse('certificate-other'));
}

/**
 * Checks that the sender of a request has two private keys: the key that is bound now, and its replacement (section
 * 7.3.1.1). The new key must sign the signature of the old key. Throws `BadSignature` if not.
 */
export async function proveRotation(
  request: ProvedRequest,
  { from, to }: { readonly from: SignatureKey; readonly to: SignatureKey },
  options: ProveOptions,
): Promise<void> {
  const { message, hasToken } = request;
  const policy = gnapPolicy({ hasToken, hasContent: isDigested(message) });
  const { label } = await proveBy(policy, request, from, options);
  const own = [`"signature";key="${label}"`, `"signature-input";key="${label}"`];
  const rotation = { ...policy, tag: 'gnap-rotate', covered: [...policy.covered, ...own] };
  await proveBy(rotation, request, to, options);
}

const isDigested = ({ lines }: SignedRequest) => lines('content-digest').length > 0;

async function proveBy(
  policy: Policy,
  { message, contentDigest }: ProvedRequest,
  key: SignatureKey,
  { replay, now, once }: ProveOptions,
): Promise<Claimed> {
  const claimed = claimedSignature(message, policy, now);
  if (claimed.params.get('keyid')?.value !== key.kid) {
    throw new BadSignature(refuse('signature-keyid'));
  }
  verifySignature(claimed, key);
  const algorithm = HASHES[key.digest];
  const actual = await contentDigest(algorithm);
  const why = isDigested(message)
    ? digestRefusal(message.lines('content-digest'), key.digest, actual)
    : unsignedRefusal(algorithm, actual);
  if (why !== undefined) throw new BadSignature(why);
  await refuseReplay(claimed, key, replay, once);
  return claimed;
}

/** Content that is not signed by a digest is refused, unless it is empty. */
const unsignedRefusal = (algorithm: string, actual: Buffer) =>
  actual.equals(hash(algorithm, '', 'buffer')) ? undefined : refuse('content-digest-missing');

/**
 * Refuses a replay, which has the same signature base and key. Its signature may have other octets, since ECDSA has a
 * second valid signature. A nonce must be unique for its key, whatever else is signed.
 */
async function refuseReplay(
  { base, params }: Claimed,
  { thumbprint }: SignatureKey,
  replay: ProveOptions['replay'],
  once: boolean,
): Promise<void> {
  const nonce = params.get('nonce')?.value;
  if (nonce === undefined && !once) return;
  // The base contains the nonce, so equal bases have the same nonce.
  const [kind, used] = nonce === undefined ? ['base', base] : ['nonce', String(nonce)];
  const key = `${thumbprint} ${kind} ${hash('sha256', used, 'base64url')}`;
  if (!(await replay.unique('gnap', key, MEMORY))) {
    throw new BadSignature(refuse('signature-used'));
  }
}

/**
 * Returns the thumbprint (RFC 8705 section 3.1) of the certificate in the lines of Client-Cert (RFC 9440 section
 * 2.2); undefined unless there is exactly one. The caller must check that a trusted proxy has sent the lines.
 */
export function certificateThumbprint(lines: readonly string[]): string | undefined {
  const [line, another] = lines;
  if (line === undefined || another !== undefined) return undefined;
  // The field is a single item, which is parsed here as the only member of a dictionary.
  const certificate = parseUniqueDictionary(`c=${line}`)?.get('c');
  if (certificate?.type !== 'bytes' || certificate.value.length === 0) return undefined;
  return hash('sha256', certificate.value, 'base64url');
}
