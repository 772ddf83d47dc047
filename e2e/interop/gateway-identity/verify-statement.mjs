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
    cacheMaxAge: 300_000, // a key that was ended is believed for so long at most
    cooldownDuration: 1000, // a new one is asked for so soon
  });
  const expected = {
    typ: 'gateway-identity+jwt',
    algorithms: ['ES256'],
    issuer: gateway,
    audience: name,
    requiredClaims: ['sub', 'kind', 'scheme', 'exp'],
    maxTokenAge: 60,
    clockTolerance: 5, // seconds by which the clocks may differ
  };
  /** @param {string | undefined} statement The field X-Auth-Statement. */
  return async (statement = '') => (await jwtVerify(statement, keys, expected)).payload;
}
