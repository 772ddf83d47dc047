import type { KeyRing } from '#shared/keys/signing-key-ring.ts';
import { EVERYBODY } from '#shared/server/endpoints/cors.ts';
import { type Endpoint, READ } from '#shared/server/endpoints/endpoint.ts';
import { validated } from '#shared/server/endpoints/validated.ts';

export const JWKS_PATH = '/.well-known/countersign-gateway/jwks';

/**
 * The keys by which applications verify statements (RFC 7517 section 5), without removed keys. `maxAge`: seconds for
 * which caches may store them.
 */
export function jwksEndpoint(ring: KeyRing, maxAge: number): Endpoint {
  return {
    methods: READ,
    cors: EVERYBODY,
    async answer(request) {
      await ring.refresh();
      const fields = {
        'Content-Type': 'application/jwk-set+json',
        'Cache-Control': `public, max-age=${maxAge}`,
      };
      const body = JSON.stringify({ keys: ring.current.publicJwks });
      return validated(request, { status: 200, fields, body });
    },
  };
}
