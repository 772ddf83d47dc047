// An API of Fastify behind Countersign. Needs fastify, and the package that `npm run pack:resource` writes to dist/.
import { protect } from '@countersign/resource';
import Fastify from 'fastify';

const { ISSUER: issuer, RESOURCE: resource, CLIENT, SECRET, PORT } = process.env;
const guard = protect({
  issuer,
  resource,
  scopes: (method) => (['GET', 'HEAD'].includes(method) ? ['notes:read'] : ['notes:write']),
  client: { id: CLIENT, secret: SECRET },
  dpop: { nonce: true },
});

const app = Fastify();
app.get('/', async () => 'Notes are at /v1/notes.');
app.get(guard.metadataPath, async () => guard.metadata());
app.register(async (notes) => {
  notes.addHook('onRequest', guard.fastify());
  notes.get('/v1/notes', async (request) => ({ readBy: request.auth.id }));
  notes.post('/v1/notes', async (request) => ({ writtenBy: request.auth.id }));
});
await app.listen({ port: Number(PORT), host: '127.0.0.1' });
console.log('listening');
