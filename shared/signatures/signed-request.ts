import { hash, type KeyObject } from 'node:crypto';
import type { BareItem, Params } from '#shared/http/structured-fields.ts';
import type { JwsAlgorithm } from '#shared/jose/algorithms.ts';
import { type Identifier, signatureParams } from './component.ts';
import { signOctets } from './algorithms.ts';
import type { SignedMessage } from './message.ts';
import { signatureBase } from './signature-base.ts';

/** A request as its client signs it. */
export interface ToSign {
  readonly method: string;
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A private key with the name under which the verifier knows it. */
export interface SignedBy {
  readonly alg: JwsAlgorithm['alg'];
  readonly kid: string;
  readonly key: KeyObject;
}

/**
 * Returns the fields that sign a request (RFC 9421). The signature covers the method, the URL, every given field, and
 * the digest of the body (RFC 9530). `created`: seconds since the epoch.
 */
export function signedRequest(
  { method, url, fields: given, body }: ToSign,
  { alg, kid, key }: SignedBy,
  { tag, created }: { readonly tag?: string | undefined; readonly created: number },
): Readonly<Record<string, string>> {
  const digest = body !== undefined && {
    'content-digest': `sha-256=:${hash('sha256', body, 'base64')}:`,
  };
  const named = Object.entries({ ...given, ...digest });
  const fields = new Map(named.map(([name, value]) => [name.toLowerCase(), value]));
  const identifiers = ['@method', '@target-uri', ...fields.keys()].map((value): Identifier => ({
    type: 'string',
    value,
    params: new Map(),
  }));
  const params = new Map<string, BareItem>([
    ['created', { type: 'integer', value: created }],
    ['keyid', { type: 'string', value: kid }],
  ]);
  if (tag !== undefined) params.set('tag', { type: 'string', value: tag });
  const { pathname, search } = new URL(url);
  const message = {
    method,
    targetUri: url,
    requestTarget: pathname + search,
    lines: (name: string) => [fields.get(name) ?? []].flat(),
  };
  const signature = signatureFields(message, { label: 'sig1', identifiers, params, alg, key });
  return { ...digest, ...signature };
}

export interface Signing {
  /** The name of the signature within the message: a structured field's key, in lower case. */
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
