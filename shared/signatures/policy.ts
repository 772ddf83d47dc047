/** The demands of an application on a signature (RFC 9421 section 3.2.1). */
import type { BareItem, Params } from '#shared/http/structured-fields.ts';
import { refuse } from '#shared/refusals/signatures.ts';
import { identityOf } from './component.ts';
import { BadSignature } from './message.ts';
import type { LabelledSignature } from './signature-fields.ts';

export interface Policy {
  /**
   * The components that must be covered, as identifiers such as `"@method"`. A component with parameters is a
   * different one: `"@method";req` does not replace `"@method"`.
   */
  readonly covered: readonly string[];
  /** The value of `tag`, which identifies the signature: a message may have several, and labels have no meaning. */
  readonly tag: string | undefined;
  /** Parameters that are required, besides `created`. */
  readonly required: readonly string[];
  /** Parameters that are not allowed. */
  readonly refused: readonly string[];
  /** Seconds by which `created` may be earlier or later than the server's clock. */
  readonly window: number;
}

/** The types of the parameters that RFC 9421 section 2.3 defines. */
const TYPES: Readonly<Record<string, BareItem['type']>> = {
  created: 'integer',
  expires: 'integer',
  nonce: 'string',
  alg: 'string',
  keyid: 'string',
  tag: 'string',
};

/** Finds the signature with the tag of the policy. Throws `BadSignature` unless there is exactly one. */
export function signatureFor(
  signatures: readonly LabelledSignature[],
  { tag }: Policy,
): LabelledSignature {
  const [one, ...more] = signatures.filter(({ params }) => params.get('tag')?.value === tag);
  if (one === undefined) throw new BadSignature(refuse('signature-none', { tag: String(tag) }));
  if (more.length > 0) throw new BadSignature(refuse('signature-two', { tag: String(tag) }));
  return one;
}

/** Throws `BadSignature` if the signature does not meet the policy. `now`: seconds since the epoch. */
export function checkPolicy(signature: LabelledSignature, policy: Policy, now: number): void {
  const { identifiers, params } = signature;
  for (const [name, type] of Object.entries(TYPES)) {
    if (params.has(name) && params.get(name)?.type !== type) {
      throw new BadSignature(refuse('signature-param-type', { param: name, type }));
    }
  }
  const missing = ['created', ...policy.required].find((name) => !params.has(name));
  if (missing !== undefined)
    throw new BadSignature(refuse('signature-param-missing', { param: missing }));
  const refused = policy.refused.find((name) => params.has(name));
  if (refused !== undefined)
    throw new BadSignature(refuse('signature-param-refused', { param: refused }));
  const covered = new Set(identifiers.map(identityOf));
  const uncovered = policy.covered.find((component) => !covered.has(component));
  if (uncovered !== undefined)
    throw new BadSignature(refuse('signature-uncovered', { component: uncovered }));
  checkTimes(params, policy, now);
}

function checkTimes(params: Params, { window }: Policy, now: number): void {
  const created = numberOf(params, 'created') ?? Number.NaN;
  if (!(Math.abs(now - created) <= window)) {
    throw new BadSignature(refuse('signature-created', { window }));
  }
  const expires = numberOf(params, 'expires');
  if (expires !== undefined && expires <= now) throw new BadSignature(refuse('signature-expired'));
}

function numberOf(params: Params, name: string): number | undefined {
  const param = params.get(name);
  return param?.type === 'integer' ? param.value : undefined;
}
