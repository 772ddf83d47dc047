import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';

export interface DocumentServer extends AsyncDisposable {
  readonly origin: string;
  /** The certificate, in PEM, for other processes that must trust the site. */
  readonly certificate: string;
  /** The requested paths. */
  readonly asked: string[];
  /** Documents by path; a function answers the request itself. */
  readonly documents: Map<string, object | RequestListener>;
}

/** Starts a site on loopback with a certificate that this process trusts. */
export async function documentServer(): Promise<DocumentServer> {
  const certificate = selfSigned(['localhost', '127.0.0.1'], systemClock, systemRandom);
  // The certificate of an earlier site in this process is left out: of two with the same name only the first would be
  // found.
  setDefaultCACertificates([
    ...getCACertificates('bundled'),
    ...getCACertificates('extra'),
    String(certificate.cert),
  ]);
  const asked: string[] = [];
  const documents: DocumentServer['documents'] = new Map();
  const server = createServer(certificate, (request, response) => {
    const { url = '' } = request;
    asked.push(url);
    const found = documents.get(url);
    if (typeof found === 'function') found(request, response);
    else {
      response.writeHead(found ? 200 : 404, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(found ?? {}));
    }
  });
  await once(server.listen(0, 'localhost'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `https://localhost:${port}`,
    certificate: String(certificate.cert),
    asked,
    documents,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Returns a document of a web application at an address. */
export const webDocument = (clientId: string, members: object = {}): object => ({
  client_id: clientId,
  client_name: 'Notes',
  redirect_uris: ['https://notes.example/callback'],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  ...members,
});
