// Serves the document of a client at https://localhost:PORT/client.json: node serve-client.mjs PORT CERTIFICATE KEY
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [port, certificate, key] = process.argv.slice(2);
const client_id = `https://localhost:${port}/client.json`;
const document = {
  client_id,
  client_name: 'My first client',
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
};
const tls = { cert: readFileSync(certificate), key: readFileSync(key) };
createServer(tls, (_request, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify(document));
}).listen(Number(port), 'localhost', () => console.log(client_id));
