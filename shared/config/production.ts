import { trustedProxies } from '#shared/http/forwarded.ts';
import { isLoopback } from '#shared/http/loopback.js';
import type { Admitted } from '#shared/people/active.ts';
import type { Mistake } from '#shared/base/mistake.ts';
import type { Config } from './schema.ts';

/** Whether the servers trust forwarding header fields of requests from loopback. */
export function trustsLoopback(config: Pick<Config, 'trustedProxies'>): boolean {
  return hasLoopback(config.trustedProxies);
}

export function hasLoopback(networks: readonly string[]): boolean {
  const listed = trustedProxies(networks);
  return listed.has('127.0.0.1') || listed.has('::1');
}

/** Whether the token issuer has an origin of its own, for which the authorization server terminates TLS. */
export function ownsTokenOrigin({
  issuer,
  privateTokens,
}: Pick<Config, 'issuer' | 'privateTokens'>): boolean {
  return privateTokens !== undefined && privateTokens.issuer !== issuer;
}

/**
 * True if other machines can reach the issuer, the resource or a listener by its own `host`. `listen.host` does not
 * matter, since in a container it is an address within the container.
 */
export function isProduction({
  issuer,
  resource,
  listen,
  tls,
  privateTokens,
}: Pick<Config, 'issuer' | 'resource' | 'listen' | 'tls' | 'privateTokens'>): boolean {
  const { host: _inContainer, ...listeners } = listen;
  const hosts = Object.values(listeners).flatMap((listener) => listener?.host ?? []);
  const origins = [issuer, resource, tls?.resource, privateTokens?.issuer].filter(
    (origin) => origin !== undefined,
  );
  return ![...hosts, ...origins.map((origin) => new URL(origin).hostname)].every(isLoopback);
}

export const admittedBy = (
  config: Parameters<typeof isProduction>[0] & Pick<Config, 'sources'>,
): Admitted => ({
  demo: !isProduction(config),
  sources: new Set(config.sources.map(({ name }) => name)),
});

export const SECRET_MISSING: Mistake = {
  path: 'COUNTERSIGN_SECRET',
  message:
    'is missing: a pair that can be reached from elsewhere needs COUNTERSIGN_SECRET or COUNTERSIGN_SECRET_FILE, the same for all its processes (make one with: openssl rand -base64 32)',
};

/** Returns the mistakes that production refuses. Empty in development. */
export function productionMistakes(config: Config, env: NodeJS.ProcessEnv): Mistake[] {
  if (!isProduction(config)) return [];
  const http = (['issuer', 'resource'] as const)
    .filter((path) => config[path].startsWith('http:'))
    .map((path) => ({
      path,
      message: `is ${config[path]}, but the pair can be reached from elsewhere: use https, or keep every listener and origin on loopback`,
    }));
  const certificates = (['tls', 'privateTokens'] as const)
    .filter((path) => config[path] && config[path].certificate === undefined)
    .filter((path) => path === 'tls' || ownsTokenOrigin(config))
    .map((path) => ({
      path: `${path}.certificate`,
      message: 'is missing: only development makes one by itself',
    }));
  const secret = env['COUNTERSIGN_SECRET'] || env['COUNTERSIGN_SECRET_FILE'];
  return [...http, ...certificates, ...(secret ? [] : [SECRET_MISSING])];
}
