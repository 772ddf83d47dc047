import { claimedKey } from '#shared/auth/schemes/concealed/claimed-key.ts';
import { type Proof, readProof } from '#shared/auth/schemes/concealed/credentials.ts';
import {
  type SignatureScheme,
  SIGNATURE_SCHEMES,
} from '#shared/auth/schemes/concealed/signature-schemes.ts';
import type { Credentials } from '#shared/http/auth/credentials.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/schemes.ts';
import type { RefusalCode } from '#shared/refusals/table.ts';
import { checksOf, type Step } from '../checks.ts';
import type { ExplainedCredentials } from './credentials-of.ts';

const step = (
  name: string,
  check: string,
  section: string,
  refusals?: readonly RefusalCode[],
): Step => ({
  name,
  check,
  section: `RFC 9729 section ${section}`,
  ...(refusals && { refusals }),
});

/** The checks of Concealed. The server makes all checks that need no store, and then uses the first refusal. */
export const CONCEALED_STEPS: readonly Step[] = [
  step('form', 'k, a, s, v and p are present, without quotes, and well-formed.', '4'),
  step('algorithm', 'The server supports the algorithm s.', '4.4', ['concealed-algorithm']),
  step('tls', 'The connection is TLS 1.3, so that it exports a value.', '7', [
    'concealed-clear-text',
  ]),
  step('key', 'a is a public key for this algorithm.', '4.2', ['concealed-a']),
  step('signature', 'The key a has signed the value that this connection exports.', '3.3', [
    'concealed-p',
  ]),
  step('verification', 'v is the rest of the value that this connection exports.', '6.3', [
    'concealed-v',
  ]),
  step('id', 'k is the id of the key a.', '4.1', ['concealed-k']),
  step('registered', 'The key is registered.', '6.3', [
    'concealed-unknown',
    'concealed-realm',
    'concealed-owner',
  ]),
];

/** A proof with the key and the algorithm that it contains. */
interface ShownProof {
  readonly proof: Proof;
  readonly scheme: SignatureScheme;
  readonly key: NonNullable<ReturnType<typeof claimedKey>>;
}

/**
 * Reads a proof and its key, or returns the reason for which a server refuses the proof without regard to its
 * connection.
 */
function readShown(credentials: Credentials): ShownProof | Refusal {
  const proof = readProof(credentials);
  if (proof === undefined) return refuse('concealed-form');
  const scheme = SIGNATURE_SCHEMES.get(proof.signatureScheme);
  if (scheme === undefined) return refuse('concealed-algorithm');
  const key = claimedKey(scheme, proof.publicKey);
  return key === undefined ? refuse('concealed-a') : { proof, scheme, key };
}

/** Returns the refusal if k does not name the key in the proof; undefined if it does. */
const refusalOfId = ({ proof, key }: ShownProof): Refusal | undefined =>
  proof.keyId.toString('base64url') === key.id ? undefined : refuse('concealed-k');

/** RFC 9729. */
export const explainConcealed: ExplainedCredentials = (credentials) => {
  const shown = readShown(credentials);
  const refusal = 'refusal' in shown ? shown : refusalOfId(shown);
  const tls = 'Only client and server know the value that their connection exports.';
  return {
    parts: [],
    checks: checksOf(CONCEALED_STEPS, refusal, {
      tls: 'Only the server knows its connection.',
      signature: tls,
      verification: tls,
      registered: 'Only the store knows.',
    }),
  };
};
