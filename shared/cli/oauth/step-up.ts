import { CLI } from '#shared/base/invocation.ts';
import type { Reply } from '#shared/client/send.ts';
import { parseChallenges } from '#shared/http/auth/challenge.ts';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { parseScope } from '#shared/jose/scope.ts';
import type { Login } from './login.ts';
import { DEVICE_CLIENT } from './sign-in.ts';

/** A challenge that asks for another sign-in (RFC 9470 section 3), of DPoP before that of Bearer. */
export function stepUpOf({ status, fields }: Reply): AuthParams | undefined {
  if (status !== 401) return undefined;
  const challenges = parseChallenges(fields['www-authenticate'] ?? '') ?? [];
  return ['dpop', 'bearer']
    .flatMap((name) => challenges.filter(({ scheme }) => scheme.toLowerCase() === name))
    .find(({ params }) => params?.['error'] === 'insufficient_user_authentication')?.params;
}

/**
 * Characters that mean nothing to any shell or terminal, and no option: a resource chooses the words, and a person copies
 * the line.
 */
const PLAIN = /^\w[\w.:/+~-]*$/;

/**
 * Returns the command that signs in as a challenge asks, with what the login has now. Undefined: the challenge has values
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
  if (!given.every(([, values]) => values.every((value) => PLAIN.test(value)))) return undefined;
  const words = given.map(([name, values]) => {
    return `--${name} ${values.length > 1 ? `"${values.join(' ')}"` : values.join()}`;
  });
  return `${CLI} login ${words.join(' ')}`;
}
