import { andThen } from '#shared/base/awaitable.ts';
import { formatChallenge } from '#shared/http/auth/challenge.ts';
import { refuse } from '#shared/refusals/spaces.ts';
import { conceal } from '../conceal.ts';
import { inWords } from './step-up.ts';
import { subjectOf } from '../person.ts';
import {
  type About,
  actOf,
  type Allowed,
  type AuthRequest,
  type Grounds,
  type NeededAuthentication,
  type Outcome,
  type Principal,
  type ProtectionSpace,
} from '../scheme.ts';

type Pass = Extract<Outcome, { kind: 'pass' }>;

/**
 * Decides whether a principal that passed `judge` may enter, signed in as the method requires, and holds the required
 * scopes. Returns the pass, a 401 that asks for another sign-in (RFC 9470), or a 403 with the scopes to ask for (RFC
 * 6750 section 3.1). A space that hides shows 404 or nothing instead. Every answer has the fields that the scheme
 * owes its client, as the answer for a missing resource does.
 *
 * The operator's list is checked first, since no other sign-in changes it. The sign-in is checked before the scopes:
 * its challenge names the scopes, too (RFC 9470 section 3), so that the client asks its person only once.
 */
export function authorize(space: ProtectionSpace, passed: Pass, request: AuthRequest): Outcome {
  if (space.allow && !isAllowed(space.allow, passed.principal)) {
    const answer = { status: 403, fields: {}, detail: NOT_ALLOWED };
    return refusedBy(space, passed, { ...answer, ...refuse('not-allowed') });
  }
  const act = actOf(request);
  const needed = space.scopes(act);
  const { scopes } = passed.principal;
  // The client's present scopes are named, too: it asks for exactly the named scopes, and would lose all others.
  const asked = () => [...new Set([...needed, ...(scopes ?? [])])];
  const authentication = space.stepUp?.(act, passed.principal);
  if (authentication) return refusedBy(space, passed, stepUp(space, authentication, asked()));
  const missing = needed.filter((scope) => !scopes?.has(scope));
  if (missing.length === 0) return staying(space, passed);
  const scheme = space.schemes.find(({ name }) => name === passed.scheme);
  const challenge = scheme?.insufficientScope?.(asked(), request);
  const fields = challenge ? { [space.at.ask]: [formatChallenge(challenge)] } : {};
  const lacks = missing.join(' ');
  const refusal = refuse('scope', { scopes: lacks });
  const detail = `This needs the scope ${lacks}.`;
  return refusedBy(space, passed, { status: 403, fields, ...refusal, detail });
}

const NOT_ALLOWED = 'Who is let in here may not enter: the operator has named others.';

/**
 * Returns the answer that asks for another sign-in, with challenges of schemes whose credentials show a sign-in.
 * Basic is left out, since its challenge would open a useless dialog. Without such a scheme the answer is 403, since
 * a 401 needs a challenge (RFC 9110 section 15.5.2).
 */
function stepUp(
  { schemes, at }: ProtectionSpace,
  needed: NeededAuthentication,
  scopes: readonly string[],
): Refused {
  const words = inWords(needed);
  const refusal = refuse('step-up', { signIn: words });
  const detail = `This needs ${words}.`;
  const challenges = schemes.flatMap(
    ({ insufficientAuthentication: ask }) => ask?.(needed, scopes) ?? [],
  );
  if (challenges.length === 0) return { status: 403, fields: {}, ...refusal, detail };
  const fields = { [at.ask]: challenges.map(formatChallenge) };
  return { status: at.status, fields, ...refusal, detail, needed };
}

type Refused = Pick<
  Extract<Outcome, { kind: 'answer' }>,
  'status' | 'fields' | 'refusal' | 'reason' | 'detail' | 'needed'
>;

function refusedBy(space: ProtectionSpace, passed: Pass, answer: Refused): Outcome {
  const refused = conceal(space, {
    kind: 'answer',
    ...answer,
    scheme: passed.scheme,
    ...(passed.principal.about && { about: passed.principal.about }),
    ...(passed.seal && { seal: passed.seal }),
  });
  if (refused.kind !== 'answer') return refused;
  return { ...refused, fields: { ...passed.fields, ...refused.fields } };
}

/** A number for each operator's list: two spaces of one realm, at two origins, each have a list. */
const numbers = new WeakMap<Allowed, number>();
let numbered = 0;

function numberOf(allow: Allowed): number {
  const known = numbers.get(allow) ?? (numbered += 1);
  numbers.set(allow, known);
  return known;
}

/** Adds grounds that end when the directory's data about the person no longer matches the operator's list. */
function staying({ allow, about, realm }: ProtectionSpace, passed: Pass): Pass {
  const { principal, grounds = [] } = passed;
  const id = subjectOf(principal);
  if (!allow || !about || principal.kind !== 'person' || id === undefined) return passed;
  const permission: Grounds = {
    of: `permission for ${realm} ${numberOf(allow)}:${id}`,
    end: () =>
      andThen(about(id), (now) =>
        now && isAllowed(allow, principal, now) ? undefined : 'revoked',
      ),
  };
  return { ...passed, grounds: [...grounds, permission] };
}

/**
 * True if `allow` names the principal: a person by id or group, an application by id. The application that a person
 * uses is ignored.
 */
export function isAllowed(
  { groups, people, clients }: Allowed,
  principal: Principal,
  about: About | undefined = principal.about,
): boolean {
  const id = subjectOf(principal) ?? '';
  if (principal.kind !== 'person') return clients.has(id);
  return people.has(id) || about?.groups.some((group) => groups.has(group)) === true;
}
