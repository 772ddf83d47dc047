import { andThen } from '#shared/base/awaitable.ts';
import type { Fields } from '#shared/http/answer.ts';
import { formatChallenge } from '#shared/http/auth/challenge.ts';
import { isAllowed } from './allow.ts';
import { conceal } from '../conceal.ts';
import { subjectOf } from '../person.ts';
import {
  actOf,
  type AuthRequest,
  type Grounds,
  type Outcome,
  type ProtectionSpace,
} from '../scheme.ts';

type Pass = Extract<Outcome, { kind: 'pass' }>;

/**
 * Decides whether a principal that passed `judge` may enter, and holds the scopes that the method needs. Returns the
 * pass, or a 403 with the scopes to ask for (RFC 6750 section 3.1); a space that hides shows 404 or nothing instead.
 * Every answer has the fields that the scheme owes its client, as that to a missing resource does.
 */
export function authorize(space: ProtectionSpace, passed: Pass, request: AuthRequest): Outcome {
  if (space.allow && !isAllowed(space.allow, passed.principal)) {
    return refusedBy(space, passed, {}, 'none of those whom the space allows', NOT_ALLOWED);
  }
  const needed = space.scopes(actOf(request));
  const { scopes } = passed.principal;
  const missing = needed.filter((scope) => !scopes?.has(scope));
  if (missing.length === 0) return staying(space, passed);
  const scheme = space.schemes.find(({ name }) => name === passed.scheme);
  // The scopes that the client holds are named, too: it asks for exactly the scopes named, and would lose the others.
  const asked = [...new Set([...needed, ...(scopes ?? [])])];
  const challenge = scheme?.insufficientScope?.(asked, request);
  const fields = challenge ? { [space.at.ask]: [formatChallenge(challenge)] } : {};
  const words = missing.join(' ');
  return refusedBy(space, passed, fields, `lacks ${words}`, `This needs the scope ${words}.`);
}

const NOT_ALLOWED = 'Who is let in here may not enter: the operator has named others.';

function refusedBy(
  space: ProtectionSpace,
  passed: Pass,
  own: Fields,
  reason: string,
  detail: string,
): Outcome {
  const refused = conceal(space, {
    kind: 'answer',
    status: 403,
    fields: own,
    reason,
    detail,
    scheme: passed.scheme,
    ...(passed.principal.about && { about: passed.principal.about }),
    ...(passed.seal && { seal: passed.seal }),
  });
  if (refused.kind !== 'answer') return refused;
  return { ...refused, fields: { ...passed.fields, ...refused.fields } };
}

/** Lets a principal stay only as long as the directory still says what they were let in for. */
function staying({ allow, about, realm }: ProtectionSpace, passed: Pass): Pass {
  const { principal, grounds = [] } = passed;
  const id = subjectOf(principal);
  if (!allow || !about || principal.kind !== 'person' || id === undefined) return passed;
  const permission: Grounds = {
    of: `permission for ${realm} ${id}`,
    end: () =>
      andThen(about(id), (now) =>
        now && isAllowed(allow, principal, now) ? undefined : 'revoked',
      ),
  };
  return { ...passed, grounds: [...grounds, permission] };
}
