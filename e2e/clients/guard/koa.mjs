// An API of Koa behind Countersign. Needs koa, @koa/router, and the package that `npm run pack:resource` writes to dist/.
import { protect } from '@countersign/resource';
import { Router } from '@koa/router';
import Koa from 'koa';

const { ISSUER: issuer, RESOURCE: resource, CLIENT, SECRET, PORT } = process.env;
const guard = protect({
  issuer,
  resource,
  scopes: (method) => (['GET', 'HEAD'].includes(method) ? ['notes:read'] : ['notes:write']),
  client: { id: CLIENT, secret: SECRET },
  dpop: { nonce: true },
});

const open = new Router().get('/', (context) => void (context.body = 'Notes are at /v1/notes.'));
const notes = new Router({ prefix: '/v1' })
  .get('/notes', (context) => void (context.body = { readBy: context.state.auth.id }))
  .post('/notes', (context) => void (context.body = { writtenBy: context.state.auth.id }));
// All routes behind the guard are protected.
const app = new Koa().use(open.routes()).use(guard.koa()).use(notes.routes());
app.listen(PORT, '127.0.0.1', () => console.log('listening'));
