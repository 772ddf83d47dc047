/**
 * Express with one document, protected by our guard, by express-oauth2-jwt-bearer, or not at all. Argument:
 * its JSON.
 */
import express, { type RequestHandler } from 'express';
import { protect } from '#shared/guard/protect.ts';
import type { Guarded } from './bare.ts';

const { port, by, issuer, audience, scope, client, path, body } = JSON.parse(
  process.argv[2] ?? '',
) as Guarded;

/** Imported without types, because two declarations of `request.auth` cannot be in one program. */
const PEER: string = 'express-oauth2-jwt-bearer';

const app = express();
if (by === 'countersign') {
  app.use(protect({ issuer, resource: audience, scopes: [scope], client }).node());
}
if (by === 'peer') {
  const { auth, requiredScopes } = (await import(PEER)) as {
    auth: (options: object) => RequestHandler;
    requiredScopes: (scope: string) => RequestHandler;
  };
  const jwksUri = `${issuer}/jwks`;
  app.use(auth({ issuer, jwksUri, audience, tokenSigningAlg: 'ES256' }), requiredScopes(scope));
}
app.get(path, (_, response) => void response.type('text/plain').send(body));
app.listen(port, '127.0.0.1');
