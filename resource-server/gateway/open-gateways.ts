import { ownCookies } from '#shared/config/own-cookies.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Space } from '../spaces.ts';
import type { Gateway, GatewayParts } from './gateway.ts';

/** A gateway for each space that serves an application. Its module is loaded with the first: it has all of undici. */
export async function openGateways(
  spaces: readonly Space[],
  config: Pick<Config, 'issuer' | 'resource' | 'tls'>,
  parts: Omit<GatewayParts, 'identity' | 'cookies'>,
): Promise<ReadonlyMap<Space, Gateway>> {
  const gateways = new Map<Space, Gateway>();
  const hosts = [config.resource, config.tls?.resource].map((origin) => hostOf(origin));
  const cookies = hosts.includes(hostOf(config.issuer)) ? ownCookies(config) : new Set<string>();
  for (const space of spaces) {
    if (space.upstream === undefined) continue;
    const { createGateway } = await import('./gateway.ts');
    const own = { ...parts, identity: () => [], cookies };
    gateways.set(space, createGateway(space, space.upstream, own));
  }
  return gateways;
}

/** Cookies know no ports: those of an authorization server on the same host come here as well. */
const hostOf = (origin: string | undefined) => origin && new URL(origin).hostname;
