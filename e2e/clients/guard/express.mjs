// An API of Express behind Countersign. Needs express, and the package that `npm run pack:resource` writes to dist/.
import { protect } from '@countersign/resource';
import express from 'express';

const { ISSUER: issuer, RESOURCE: resource, CLIENT, SECRET, PORT } = process.env;
const guard = protect({
  issuer,
  resource,
  scopes: (method) => (['GET', 'HEAD'].includes(method) ? ['notes:read'] : ['notes:write']),
  client: { id: CLIENT, secret: SECRET },
  dpop: { nonce: true },
});

const app = express();
app.get('/', (_request, response) => response.send('Notes are at /v1/notes.'));
// Clients read the metadata before they have a token, so this address beside the API is open.
app.use(['/v1', guard.metadataPath], guard.node());
app.get('/v1/notes', (request, response) => response.json({ readBy: request.auth.id }));
app.post('/v1/notes', (request, response) => response.json({ writtenBy: request.auth.id }));
app.listen(PORT, '127.0.0.1', () => console.log('listening'));
