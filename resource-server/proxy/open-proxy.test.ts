import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { NEVER_ENDS } from '#shared/auth/standing/standing.fixture.ts';
import { systemClock } from '#shared/base/clock.ts';
import type { Scheme } from '#shared/auth/scheme.ts';
import { proxySchema } from '#shared/config/space-schema.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { listen } from '#shared/server/listen/listen.ts';
import { systemNetwork } from './network.ts';
import { besideAsProxy } from './open-proxy.ts';

const anybody: Scheme = {
  name: 'Basic',
  challenge: () => [],
  authenticate: () => ({ kind: 'granted', principal: { kind: 'anonymous' } }),
};

test('the destination `self` covers every listener of the resource server, including later ones', async () => {
  const address = { host: '127.0.0.1', port: 0 };
  const open = () => listen({ ...address, handler: () => undefined, log: silentLog });
  const main = await open();
  const own = [main, await open()];
  const stranger = await open();
  const parts = { log: silentLog, clock: systemClock, random: systemRandom };
  const proxy = await besideAsProxy({
    ...parts,
    address,
    config: proxySchema.parse({ schemes: ['Basic'], destinations: ['self'] }),
    schemes: { Basic: () => anybody } as never,
    network: systemNetwork,
    standing: NEVER_ENDS,
    errors: { told: (_request, answer) => answer },
    seeming: () => undefined,
    limits: {},
  }).open(main, own);
  own.push(await open());

  async function statusOf(port: number): Promise<number | undefined> {
    const tunnel = request({
      ...address,
      port: proxy.port,
      method: 'CONNECT',
      path: `127.0.0.1:${port}`,
      headers: { 'Proxy-Authorization': 'Basic YTpi' },
    }).end();
    const [response, socket] = (await once(tunnel, 'connect')) as [
      IncomingMessage,
      { destroy: () => void },
    ];
    socket.destroy();
    return response.statusCode;
  }
  for (const { port } of own) expect(await statusOf(port)).toBe(200);
  expect(await statusOf(stranger.port)).toBe(403);
  await Promise.all([proxy, stranger, ...own].map((one) => one.close(0)));
});
