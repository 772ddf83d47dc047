import { isSignInCookie } from '#shared/auth/schemes/session/cookie.ts';
import { ownCookies } from '#shared/config/own-cookies.ts';
import type { Config } from '#shared/config/schema.ts';
import { signInSpaces } from '#shared/config/sign-in-clients.ts';
import type { Caches } from '../cache/open-caches.ts';
import type { Space } from '../space/spaces.ts';
import type { Gateway, GatewayParts } from './gateway.ts';
import { identityLines } from './identity/identity-lines.ts';
import type { Statements } from './identity/statements.ts';
import { ownNames } from './own-names.ts';

interface GatewaysParts extends Omit<GatewayParts, 'identity' | 'own' | 'isOurs' | 'cached'> {
  readonly caches: Caches['of'];
  /** Absent: no space sends statements to its application. */
  readonly statements: Statements | undefined;
}

const UNSTATED: Statements = { of: () => undefined };

/** Opens a gateway for each space with an application. The module is loaded with the first. */
export async function openGateways(
  spaces: readonly Space[],
  config: Pick<Config, 'issuer' | 'resource' | 'tls' | 'spaces'>,
  { statements = UNSTATED, caches, ...parts }: GatewaysParts,
): Promise<ReadonlyMap<Space, Gateway>> {
  const gateways = new Map<Space, Gateway>();
  const hosts = new Set([config.resource, config.tls?.resource].map((origin) => hostOf(origin)));
  const ofIssuer = hosts.has(hostOf(config.issuer)) ? ownCookies(config) : new Set<string>();
  const signIn = signInSpaces(config).some(({ origin }) => hosts.has(hostOf(origin)));
  const isOurs = (name: string) => ofIssuer.has(name) || (signIn && isSignInCookie(name));
  const own = ownNames(spaces);
  for (const space of spaces) {
    const { upstream } = space;
    if (upstream === undefined) continue;
    const { createGateway } = await import('./gateway.ts');
    const identity = identityLines(statements, upstream, space.identity);
    const cached = caches.get(space);
    gateways.set(
      space,
      createGateway(space, upstream, { ...parts, identity, own, isOurs, cached }),
    );
  }
  return gateways;
}

/** Cookies ignore ports, so cookies of an authorization server on the same host arrive here, too. */
const hostOf = (origin: string | undefined) => origin && new URL(origin).hostname;
