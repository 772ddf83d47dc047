import { formatChallenge } from '#shared/http/auth/challenge.ts';
import { conceal } from './conceal.ts';
import { actOf, type AuthRequest, type Outcome, type ProtectionSpace } from './scheme.ts';

/**
 * Whether who passed `judge` holds the scopes that the method needs. Passes on, or answers 403 with the
 * scopes to ask for (RFC 6750 section 3.1); a space that hides shows 404 or nothing instead. What
 * the scheme owes its client comes with every answer, as it does with one to a missing resource.
 */
export function authorize(
  space: ProtectionSpace,
  passed: Extract<Outcome, { kind: 'pass' }>,
  request: AuthRequest,
): Outcome {
  const needed = space.scopes(actOf(request));
  const { scopes } = passed.principal;
  const missing = needed.filter((scope) => !scopes?.has(scope));
  if (missing.length === 0) return passed;
  const scheme = space.schemes.find(({ name }) => name === passed.scheme);
  // What it holds is named too: a client asks for what is named and nothing else, and would lose it.
  const asked = [...new Set([...needed, ...(scopes ?? [])])];
  const challenge = scheme?.insufficientScope?.(asked, request);
  const refused = conceal(space, {
    kind: 'answer',
    status: 403,
    fields: challenge ? { [space.at.ask]: [formatChallenge(challenge)] } : {},
    reason: `lacks ${missing.join(' ')}`,
    detail: `This needs the scope ${missing.join(' ')}.`,
    scheme: passed.scheme,
    ...(passed.seal && { seal: passed.seal }),
  });
  if (refused.kind !== 'answer') return refused;
  return { ...refused, fields: { ...passed.fields, ...refused.fields } };
}
