import { WORKER } from '#shared/base/workers.ts';
import { keyLifecycle } from '#shared/keys/signing-key-lifecycle.ts';
import { openKeyRing } from '#shared/keys/signing-key-ring.ts';
import type { Chore } from '#shared/server/chore.ts';
import type { Endpoint } from '#shared/server/endpoints/endpoint.ts';
import type { Parts } from '#shared/server/process.ts';
import { jwksEndpoint } from './jwks.ts';
import { createStatements, type Statements } from './statements.ts';

/** How applications learn the admitted caller, and the keys with which they verify it. */
export interface GatewayIdentity {
  readonly statements: Statements;
  readonly jwks: Endpoint;
  readonly chores: readonly Chore[];
}

/**
 * Opens the parts, with a new key at the first start. Throws if the keys in the store belong to another master secret.
 */
export async function openIdentity(parts: Parts): Promise<GatewayIdentity> {
  const { config, feed, clock } = parts;
  const ring = await openKeyRing(keyLifecycle('gatewayKeys', parts), ['ES256']);
  const sweep = { name: 'sweep.gateway-keys', seconds: 60, run: () => ring.sweep() };
  return {
    statements: createStatements({ issuer: config.resource, ring, feed, clock }),
    jwks: jwksEndpoint(ring, config.jwks.maxAge),
    chores: [
      { name: 'gateway-keys', seconds: 1, run: () => ring.refresh() },
      ...(WORKER === 1 ? [sweep] : []),
    ],
  };
}
