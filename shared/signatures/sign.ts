import type { KeyObject } from 'node:crypto';
import type { Params } from '#shared/http/structured-fields.ts';
import type { JwsAlgorithm } from '#shared/jose/algorithms.ts';
import { signOctets } from './algorithms.ts';
import { type Identifier, signatureParams } from './component.ts';
import type { SignedMessage } from './message.ts';
import { signatureBase } from './signature-base.ts';

export interface Signing {
  /** Names the signature within the message; a structured field's key: lower case. */
  readonly label: string;
  readonly identifiers: readonly Identifier[];
  readonly params: Params;
  readonly alg: JwsAlgorithm['alg'];
  /** A private key that fits `alg`. */
  readonly key: KeyObject;
}

/** Returns the two fields that sign the message (RFC 9421 section 3.1). Throws `BadSignature`. */
export function signatureFields(message: SignedMessage, signing: Signing) {
  const { label, identifiers, params, alg, key } = signing;
  const base = signatureBase(identifiers, params, message);
  const signature = signOctets(Buffer.from(base, 'latin1'), key, alg).toString('base64');
  return {
    'Signature-Input': `${label}=${signatureParams(identifiers, params)}`,
    Signature: `${label}=:${signature}:`,
  };
}
