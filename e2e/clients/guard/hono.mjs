// An API of Hono behind Countersign. Needs hono, @hono/node-server, and the package that `npm run pack:resource` writes to dist/.
import { protect } from '@countersign/resource';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const { ISSUER: issuer, RESOURCE: resource, CLIENT, SECRET, PORT } = process.env;
const guard = protect({
  issuer,
  resource,
  scopes: (method) => (['GET', 'HEAD'].includes(method) ? ['notes:read'] : ['notes:write']),
  client: { id: CLIENT, secret: SECRET },
  dpop: { nonce: true },
});

const app = new Hono();
app.get('/', (c) => c.text('Notes are at /v1/notes.'));
app.get(guard.metadataPath, () => guard.metadata());
app.use('/v1/*', async (c, next) => {
  const verdict = await guard.judge(c.req.raw);
  if (!verdict.ok) return verdict.response;
  c.set('auth', verdict.principal);
  await next();
  for (const [name, value] of verdict.headers) c.header(name, value);
  return undefined;
});
app.get('/v1/notes', (c) => c.json({ readBy: c.get('auth').id }));
app.post('/v1/notes', (c) => c.json({ writtenBy: c.get('auth').id }));
serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' }, () =>
  console.log('listening'),
);
