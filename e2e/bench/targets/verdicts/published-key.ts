import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { selfSigned } from '#shared/server/listen/self-signed.ts';
import type { IssuerKey } from '../issuer-key.ts';

/**
 * Publishes a key over TLS in this process, because mod_auth_openidc fetches keys over TLS only, once an
 * hour.
 */
export async function publishKey(
  key: IssuerKey,
): Promise<{ readonly url: string } & AsyncDisposable> {
  const certificate = selfSigned(['localhost'], systemClock, systemRandom);
  const server = createServer({ ...certificate }, (_, response) => {
    response.setHeader('Content-Type', 'application/jwk-set+json');
    response.end(JSON.stringify({ keys: [key] }));
  });
  await once(server.listen(0, 'localhost'), 'listening');
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/jwks`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
}
