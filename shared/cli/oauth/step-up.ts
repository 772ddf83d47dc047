import { CLI } from '#shared/base/invocation.ts';
import type { Reply } from '#shared/client/send.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { parseScope } from '#shared/jose/scope.ts';
import type { Login } from './login.ts';
import { DEVICE_CLIENT } from './sign-in.ts';

export const WHY_LEFT_OUT =
  'You did not allow it, the client may not have it, or there is no such scope.';

/** The refusals that a new login may resolve, and what a person or a client has to do. */
const REFUSALS = [
  {
    // RFC 9470 section 3. A token that a client got for itself has no sign-in, and never satisfies the challenge
    // (section 6).
    status: 401,
    error: 'insufficient_user_authentication',
    ofPerson: 'The resource asks for a stronger or more recent sign-in.',
    ofClient: 'The resource asks for the sign-in of a person: leave --client out.',
  },
  {
    // RFC 6750 section 3.1. The challenge names the scopes that the request needs (section 3).
    status: 403,
    error: 'insufficient_scope',
    ofPerson: 'The resource asks for more scopes.',
    ofClient: 'The resource asks for more scopes: name them with --scope.',
  },
] as const;

export interface StepUp {
  readonly params: AuthParams;
  readonly ofPerson: string;
  readonly ofClient: string;
}

/** Returns the refusal that asks for another login. The DPoP challenge takes precedence over the Bearer challenge. */
export function stepUpOf({ status, fields }: Reply): StepUp | undefined {
  const refusal = REFUSALS.find((one) => one.status === status);
  if (refusal === undefined) return undefined;
  const challenges = parseChallenges(fields['www-authenticate'] ?? '') ?? [];
  const params = ['dpop', 'bearer']
    .flatMap((name) => challenges.filter(({ scheme }) => scheme.toLowerCase() === name))
    .find((challenge) => challenge.params?.['error'] === refusal.error)?.params;
  // If the challenge names no scopes, another login would get the same scopes as this one.
  const helps = status === 401 || params?.['scope'] !== undefined;
  return params && helps ? { params, ...refusal } : undefined;
}

/**
 * Words without characters that a shell or terminal interprets, and without a leading dash. A resource chooses these
 * words, and a person pastes the command.
 */
const PLAIN = /^\w[\w.:/+~-]*$/;

export const isPlainWord = (text: string): boolean => PLAIN.test(text);

/**
 * Returns the login command that satisfies a step-up challenge and keeps the scopes of the present login. Undefined if
 * the challenge has values that are unsafe in a shell command.
 */
export function stepUpCommand(
  { acr_values: acrValues = '', max_age: maxAge = '', scope }: AuthParams,
  login: Login,
): string | undefined {
  const scopes = [...new Set([...parseScope(login.scope), ...parseScope(scope)])];
  const options: readonly (readonly [name: string, values: readonly string[]])[] = [
    ['issuer', [login.issuer]],
    ['client', login.client_id === DEVICE_CLIENT ? [] : [login.client_id]],
    ['resource', login.resource === undefined ? [] : [login.resource]],
    ['scope', scopes],
    ['acr-values', [...parseScope(acrValues)]],
    ['max-age', maxAge === '' ? [] : [maxAge]],
  ];
  const given = options.filter(([, values]) => values.length > 0);
  if (!given.every(([, values]) => values.every(isPlainWord))) return undefined;
  const words = given.map(([name, values]) => {
    return `--${name} ${values.length > 1 ? `"${values.join(' ')}"` : values.join()}`;
  });
  return `${CLI} login ${words.join(' ')}`;
}
