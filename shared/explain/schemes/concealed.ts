import { claimedKey } from '#shared/auth/schemes/concealed/claimed-key.ts';
import { type Proof, readProof } from '#shared/auth/schemes/concealed/credentials.ts';
import {
  type SignatureScheme,
  SIGNATURE_SCHEMES,
} from '#shared/auth/schemes/concealed/signature-schemes.ts';
import type { Credentials } from '#shared/http/auth/credentials.ts';
import { checksOf, type Step } from '../checks.ts';
import type { ExplainedCredentials } from './credentials-of.ts';

const step = (name: string, check: string, section: string, refusals?: RegExp): Step => ({
  name,
  check,
  section: `RFC 9729 section ${section}`,
  ...(refusals && { refusals }),
});

/** The checks of Concealed. The server makes all that need no store, and then takes the first refusal. */
export const CONCEALED_STEPS: readonly Step[] = [
  step('form', 'k, a, s, v and p are there, without quotes, and well-formed.', '4'),
  step('algorithm', 'The server knows the algorithm s.', '4.4', /^unknown signature scheme/),
  step('tls', 'The connection is TLS 1.3, so that it exports a value.', '7', /^not over TLS/),
  step('key', 'a is a public key for this algorithm.', '4.2', /^a is no key/),
  step(
    'signature',
    'The key a has signed what this connection exports.',
    '3.3',
    /^p is no signature/,
  ),
  step('verification', 'v is the rest of what this connection exports.', '6.3', /^v is /),
  step('id', 'k is the id of the key a.', '4.1', /^k is not the id/),
  step('registered', 'Somebody has registered the key.', '6.3', /^nobody has registered/),
];

/** A proof with the key and the algorithm that it shows. */
export interface ShownProof {
  readonly proof: Proof;
  readonly scheme: SignatureScheme;
  readonly key: NonNullable<ReturnType<typeof claimedKey>>;
}

/** Reads a proof and the key in it, or returns why a server refuses it without a look at its connection. */
export function readShown(credentials: Credentials): ShownProof | string {
  const proof = readProof(credentials);
  if (proof === undefined) return 'a parameter is missing or malformed';
  const scheme = SIGNATURE_SCHEMES.get(proof.signatureScheme);
  if (scheme === undefined) return 'unknown signature scheme';
  const key = claimedKey(scheme, proof.publicKey);
  return key === undefined ? 'a is no key for s' : { proof, scheme, key };
}

/** Why k does not name the key that is shown. Undefined: it does. */
export const refusalOfId = ({ proof, key }: ShownProof): string | undefined =>
  proof.keyId.toString('base64url') === key.id ? undefined : 'k is not the id of a';

/** RFC 9729. */
export const explainConcealed: ExplainedCredentials = (credentials) => {
  const shown = readShown(credentials);
  const refusal = typeof shown === 'string' ? shown : refusalOfId(shown);
  const tls = 'Only the two ends of the connection know what it exports.';
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
