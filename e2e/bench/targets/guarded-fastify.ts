/**
 * Fastify with one document, protected by our guard, by @fastify/jwt, or not at all. Argument: its JSON.
 */
import jwt from '@fastify/jwt';
import fastify from 'fastify';
import { protect } from '#shared/guard/protect.ts';
import type { Guarded } from './bare.ts';
import { issuerKey, pem } from './issuer-key.ts';

const { port, by, issuer, audience, scope, client, path, body } = JSON.parse(
  process.argv[2] ?? '',
) as Guarded;

const app = fastify();
if (by === 'countersign') {
  const guard = protect({ issuer, resource: audience, scopes: [scope], client });
  app.addHook('onRequest', guard.fastify());
}
if (by.startsWith('peer')) {
  await app.register(jwt, {
    secret: { public: pem(await issuerKey(issuer)) },
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
      // also a 401
    }
    return reply.code(401).send();
  });
}
app.get(path, async (_, reply) => reply.type('text/plain').send(body));
await app.listen({ port, host: '127.0.0.1' });
