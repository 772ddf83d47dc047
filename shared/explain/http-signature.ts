import { hash } from 'node:crypto';
import { digestRefusal, HASHES } from '#shared/gnap/content-digest.ts';
import { gnapPolicy } from '#shared/gnap/prove.ts';
import { componentsOf, type Identifier, identifierText } from '#shared/signatures/component.ts';
import { BadSignature } from '#shared/signatures/message.ts';
import { checkPolicy } from '#shared/signatures/policy.ts';
import { signatureBase } from '#shared/signatures/signature-base.ts';
import { type LabelledSignature, readSignatures } from '#shared/signatures/signature-fields.ts';
import { type VerifyingKey, verifySignature } from '#shared/signatures/verify.ts';
import type { Refusal } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/signatures.ts';
import type { RawRequest } from './raw-request.ts';

/** The refusal; undefined if the check passes. */
type Wrong = Refusal | undefined;

export interface ExplainedSignature {
  readonly label: string;
  /** Each covered component with its value, or the reason for which it has none. */
  readonly covers: readonly { readonly component: string; readonly value: string }[];
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
  /** `unknown`: no key with the `keyid` is known. */
  readonly signature: 'good' | 'wrong' | 'unknown';
  readonly wrong?: Refusal;
  /** The reason for which GNAP refuses the signature (RFC 9635 section 7.3.1). */
  readonly gnap: Wrong;
}

export interface ExplainedSignatures {
  readonly signatures: readonly ExplainedSignature[];
  /** Whether Content-Digest matches the content; `absent` if the request has no such field. */
  readonly content: { readonly digest: 'right' | 'wrong' | 'absent'; readonly wrong?: Refusal };
}

/** Explains the signatures of a request (RFC 9421). Throws `BadSignature` if their fields are malformed. */
export function explainSignatures(
  request: RawRequest,
  keys: ReadonlyMap<unknown, VerifyingKey>,
  now: number,
): ExplainedSignatures {
  const signatures = readSignatures(request.message);
  const around = { request, keys, now, valueOf: valuesOf(request), content: contentOf(request) };
  return {
    signatures: signatures.map((signature) => explainOne(signature, around)),
    content: around.content,
  };
}

interface Around extends Pick<ExplainedSignatures, 'content'> {
  readonly request: RawRequest;
  readonly keys: ReadonlyMap<unknown, VerifyingKey>;
  readonly now: number;
  readonly valueOf: (identifier: Identifier) => string;
}

function explainOne(
  signature: LabelledSignature,
  { request, keys, now, valueOf, content: ofContent }: Around,
): ExplainedSignature {
  const { label, identifiers, params } = signature;
  const { message, content } = request;
  const key = keys.get(params.get('keyid')?.value);
  const wrong = whyNot(() => {
    const base = signatureBase(identifiers, params, message);
    if (key !== undefined) verifySignature({ ...signature, base }, key);
  });
  const demands = {
    hasToken: message.lines('authorization').length > 0,
    hasContent: content.length > 0,
  };
  const policy = gnapPolicy(demands);
  const unmet = whyNot(() => {
    const tag = params.get('tag')?.value;
    if (tag !== policy.tag)
      throw new BadSignature(refuse('signature-tag', { tag: String(policy.tag) }));
    checkPolicy(signature, policy, now);
  });
  return {
    label,
    covers: identifiers.map((identifier) => ({
      component: identifierText(identifier),
      value: valueOf(identifier),
    })),
    parameters: Object.fromEntries(
      [...params].map(([name, { type, value }]) => [
        name,
        type === 'bytes' ? value.toString('base64') : value,
      ]),
    ),
    signature: wrong === undefined ? (key === undefined ? 'unknown' : 'good') : 'wrong',
    ...(wrong !== undefined && { wrong }),
    gnap: unmet ?? wrong ?? ofContent.wrong,
  };
}

function contentOf({ message, content }: RawRequest): ExplainedSignatures['content'] {
  const lines = message.lines('content-digest');
  if (lines.length === 0) return { digest: 'absent' };
  const algorithms = Object.keys(HASHES) as (keyof typeof HASHES)[];
  const found = algorithms.filter((algorithm) => lines.join().includes(`${algorithm}=`));
  const wrong =
    found.length === 0
      ? refuse('content-digest-none', { algorithm: algorithms.join(' or ') })
      : found
          .map((name) => digestRefusal(lines, name, hash(HASHES[name], content, 'buffer')))
          .find((why) => why !== undefined);
  return wrong === undefined ? { digest: 'right' } : { digest: 'wrong', wrong };
}

function whyNot(check: () => void): Wrong {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof BadSignature) return error.refusal;
    throw error;
  }
}

/**
 * Returns a function for the value of a component, or the reason for which it has none. Each component is read once,
 * even if eight signatures cover it repeatedly.
 */
function valuesOf({ message }: RawRequest): Around['valueOf'] {
  const read = componentsOf(message);
  const values = new Map<string, string>();
  function valueOrReason(identifier: Identifier): string {
    try {
      return read(identifier);
    } catch (error) {
      if (error instanceof BadSignature) return `(none: ${error.message})`;
      throw error;
    }
  }
  return (identifier) => {
    const text = identifierText(identifier);
    const value = values.get(text) ?? valueOrReason(identifier);
    values.set(text, value);
    return value;
  };
}
