import type { Space } from '../spaces.ts';
import type { Gateway, GatewayParts } from './gateway.ts';

/** A gateway for each space that serves an application. Its module is loaded with the first: it has all of undici. */
export async function openGateways(
  spaces: readonly Space[],
  parts: Omit<GatewayParts, 'identity' | 'cookies'>,
): Promise<ReadonlyMap<Space, Gateway>> {
  const gateways = new Map<Space, Gateway>();
  for (const space of spaces) {
    if (space.upstream === undefined) continue;
    const { createGateway } = await import('./gateway.ts');
    const own = { ...parts, identity: () => [], cookies: new Set<string>() };
    gateways.set(space, createGateway(space, space.upstream, own));
  }
  return gateways;
}
