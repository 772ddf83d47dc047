// For an application behind Countersign's gateway: who asks? Needs `npm install jose` and nothing else.
//
//   const whoAsks = statementsOf('https://api.example', 'inventory');
//   const { sub, kind, scope } = await whoAsks(request.headers['x-auth-statement']);
//
// Answer 401 when it rejects: the request did not come through the gateway, or not for this application.
import { createRemoteJWKSet, jwtVerify } from 'jose';

/**
 * @param {string} gateway The resource server's origin, `resource` in its configuration.
 * @param {string} name This application's, `upstream.name` there.
 * @param {string} at Where this application reaches the gateway, if not there.
 */
export function statementsOf(gateway, name, at = gateway) {
  const keys = createRemoteJWKSet(new URL('/.well-known/countersign-gateway/jwks', at), {
    cacheMaxAge: 300_000, // a revoked key stays accepted for at most this time
    cooldownDuration: 1000, // after this time an unknown key is looked up again
  });
  const expected = {
    typ: 'gateway-identity+jwt',
    algorithms: ['ES256'],
    issuer: gateway,
    audience: name,
    requiredClaims: ['sub', 'kind', 'scheme', 'exp'],
    maxTokenAge: 60,
    clockTolerance: 5, // the allowed difference between clocks, in seconds
  };
  /** @param {string | undefined} statement The field X-Auth-Statement. */
  return async (statement = '') => (await jwtVerify(statement, keys, expected)).payload;
}
