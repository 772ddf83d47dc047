import { requestOf, SPACE } from './auth.fixture.ts';
import { ORIGIN, type ProtectionSpace, type Scheme } from '../scheme.ts';

export function spaceOf(
  schemes: readonly Scheme[],
  more: Partial<ProtectionSpace> = {},
): ProtectionSpace {
  return {
    at: ORIGIN,
    realm: 'documents',
    schemes,
    scopes: (method) => SPACE.scopes(method),
    ...more,
  };
}

/** Creates a scheme that accepts `good`; `more` overrides its other members. */
export function schemeOf(name: string, more: Partial<Scheme> = {}): Scheme {
  return {
    name,
    challenge: () => [{ scheme: name, params: { realm: 'documents' } }],
    authenticate: ({ token68 }) =>
      token68 === 'good'
        ? { kind: 'granted', principal: { kind: 'anonymous' } }
        : { kind: 'refused', refusal: 'other-scheme', reason: `not good for ${name}` },
    ...more,
  };
}

/** Returns a request with each value in an Authorization line of its own. */
export const authorization = (...values: string[]) =>
  requestOf(values.map((value) => ['Authorization', value] as const));
