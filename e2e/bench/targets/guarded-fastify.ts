/** Fastify with one document, protected by us, by @fastify/jwt, or by nobody. Argument: its JSON. */
import { createPublicKey, type webcrypto } from 'node:crypto';
import jwt from '@fastify/jwt';
import fastify from 'fastify';
import { protect } from '#shared/guard/protect.ts';
import type { Guarded } from './bare.ts';

const { port, by, issuer, audience, scope, client, path, body } = JSON.parse(
  process.argv[2] ?? '',
) as Guarded;

const app = fastify();
if (by === 'countersign') {
  const guard = protect({ issuer, resource: audience, scopes: [scope], client });
  app.addHook('onRequest', guard.fastify());
}
if (by.startsWith('peer')) {
  const { keys } = (await (await fetch(`${issuer}/jwks`)).json()) as {
    keys: webcrypto.JsonWebKey[];
  };
  const key = keys.find(({ kty }) => kty === 'EC');
  if (key === undefined) throw new Error('the issuer has no key for ES256');
  const publicKey = createPublicKey({ key: { ...key }, format: 'jwk' });
  await app.register(jwt, {
    secret: { public: publicKey.export({ type: 'spki', format: 'pem' }) },
    verify: {
      algorithms: ['ES256'],
      allowedIss: issuer,
      allowedAud: audience,
      cache: by === 'peer, which remembers',
    },
  });
  app.addHook('onRequest', async (request, reply) => {
    try {
      const claims = await request.jwtVerify<{ scope?: string }>();
      if (claims.scope?.split(' ').includes(scope)) return undefined;
    } catch {
      // 401 as well
    }
    return reply.code(401).send();
  });
}
app.get(path, async (_, reply) => reply.type('text/plain').send(body));
await app.listen({ port, host: '127.0.0.1' });
