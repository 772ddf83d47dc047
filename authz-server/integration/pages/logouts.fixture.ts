import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { text } from 'node:stream/consumers';
import { decodeJwt } from 'jose';
import { silentLog } from '#shared/base/log.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { logoutChore } from '../../logout/logout-chore.ts';
import { type TestSite, WEB } from '../site.fixture.ts';

/** An application that records the logout tokens which it gets. */
export async function startApplication(client: Partial<ClientRecord> = {}) {
  const tokens: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      tokens.push(new URLSearchParams(body).get('logout_token') ?? '');
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    client: { ...WEB, ...client, backchannel_logout_uri: `http://127.0.0.1:${port}/logout` },
    tokens,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => void server.close(closed));
    },
  };
}

/** Sends all waiting logouts of a site. */
export async function sendAll({ server, ring }: TestSite): Promise<void> {
  const signingKeys = () => Promise.resolve(ring.current);
  const chore = logoutChore({ ...server, signingKeys }, silentLog);
  while ((await server.stores.logouts.due(server.clock.now())).length > 0) {
    await chore.run();
    await setTimeout(5);
  }
  await chore[Symbol.asyncDispose]();
}

/** Does work that waits until applications were told, and sends all logouts meanwhile. */
export async function sendDuring(site: TestSite, work: () => Promise<unknown>): Promise<void> {
  const over = work().then(() => true);
  do await sendAll(site);
  while (!(await Promise.race([over, setTimeout(5, false)])));
  await sendAll(site);
}

/** Returns the people and sessions of logout tokens. */
export const toldBy = (tokens: readonly string[]) =>
  tokens.map((token) => {
    const { sub, sid } = decodeJwt(token);
    return sid === undefined ? { sub } : { sub, sid };
  });
