import { CLI } from '#shared/base/invocation.ts';
import type { Reply } from '#shared/client/send.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { parseScope } from '#shared/jose/scope.ts';
import type { Login } from './login.ts';
import { DEVICE_CLIENT } from './sign-in.ts';

export const WHY_LEFT_OUT =
  'You did not allow it, the client may not have it, or there is no such scope.';

/** The refusals that another login may meet, and what they ask of a person and of a client. */
const REFUSALS = [
  {
    // RFC 9470 section 3. A token of a client says nothing of a sign-in, and never satisfies (section 6).
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

/** A refusal that asks for another login, by the challenge of DPoP before that of Bearer. */
export function stepUpOf({ status, fields }: Reply): StepUp | undefined {
  const refusal = REFUSALS.find((one) => one.status === status);
  if (refusal === undefined) return undefined;
  const challenges = parseChallenges(fields['www-authenticate'] ?? '') ?? [];
  const params = ['dpop', 'bearer']
    .flatMap((name) => challenges.filter(({ scheme }) => scheme.toLowerCase() === name))
    .find((challenge) => challenge.params?.['error'] === refusal.error)?.params;
  // Without scopes in the challenge another login would be as this one.
  const helps = status === 401 || params?.['scope'] !== undefined;
  return params && helps ? { params, ...refusal } : undefined;
}

/**
 * Characters that mean nothing to any shell or terminal, and no option: a resource chooses the words, and a person copies
 * the line.
 */
const PLAIN = /^\w[\w.:/+~-]*$/;

export const isPlainWord = (text: string): boolean => PLAIN.test(text);

/**
 * Returns the command that logs in as a challenge asks, with what the login has now. Undefined: the challenge has values
 * that must not come into a command line.
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
