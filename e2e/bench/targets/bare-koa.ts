/** A bare Koa with @koa/router and jose: one document behind Bearer and DPoP. Argument: its JSON. */
import { createHash } from 'node:crypto';
import { Router } from '@koa/router';
import { calculateJwkThumbprint, createLocalJWKSet, EmbeddedJWK, jwtVerify } from 'jose';
import type { JWTPayload } from 'jose';
import Koa from 'koa';
import type { BareResource } from './bare.ts';

const { port, jwks, issuer, audience, scope, origin, path, body } = JSON.parse(
  process.argv[2] ?? '',
) as BareResource;
const keys = createLocalJWKSet(jwks);
const used = new Set<unknown>();

/** RFC 9449 section 4.3. */
async function checkProof(proof: string, token: string, method: string, claims: JWTPayload) {
  const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
    typ: 'dpop+jwt',
    algorithms: ['ES256'],
    maxTokenAge: 60,
  });
  const { jkt } = (claims['cnf'] ?? {}) as { jkt?: string };
  const ath = createHash('sha256').update(token).digest('base64url');
  const { jwk } = protectedHeader;
  if (jwk === undefined || (await calculateJwkThumbprint(jwk)) !== jkt) throw new Error('jkt');
  if (payload['htm'] !== method || payload['htu'] !== origin + path) throw new Error('htm, htu');
  if (payload['ath'] !== ath || payload.jti === undefined) throw new Error('ath, jti');
  if (used.has(payload.jti)) throw new Error('replayed');
  used.add(payload.jti);
}

const router = new Router();
router.get(path, async (context) => {
  const [scheme, token = ''] = context.get('Authorization').split(' ');
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      typ: 'at+jwt',
      algorithms: ['ES256'],
    });
    if (!String(payload['scope']).split(' ').includes(scope)) throw new Error('scope');
    if (scheme === 'DPoP') await checkProof(context.get('DPoP'), token, context.method, payload);
    else if (payload['cnf'] !== undefined) throw new Error('bound');
  } catch {
    context.status = 401;
    return;
  }
  context.type = 'text/plain';
  context.body = body;
});

new Koa().use(router.routes()).listen(port, '127.0.0.1');
