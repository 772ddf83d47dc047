import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import { schemeOf, spaceOf } from '#shared/auth/judge/judge.fixture.ts';
import { PROXY } from '#shared/auth/scheme.ts';
import { silentLog } from '#shared/base/log.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { listen } from '#shared/server/listen/listen.ts';
import { hiddenProxy } from './hidden-proxy.ts';
import { exchangeOf, sideOf } from '../answers/side.ts';

test.each([
  ['GET', 'http://a.example/'],
  ['CONNECT', 'a.example:443'],
])(
  'over %s, nothing is sent for a client that leaves while its key is checked',
  async (method, uri) => {
    const looked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    const done: string[] = [];
    const scheme = schemeOf('Concealed', {
      async authenticate() {
        looked.resolve();
        await left.promise;
        return { kind: 'granted', principal: { kind: 'anonymous' } };
      },
    });
    const { handler, tunnel } = hiddenProxy({
      proxy: {
        handler: () => void done.push('forwarded'),
        async tunnel() {
          done.push('tunnel');
        },
      },
      space: spaceOf([scheme], { at: PROXY, scopes: () => [] }),
      recipient: { at: PROXY, proxies: trustedProxies([]), local: true },
      origin: 'http://proxy.example',
      seeming: () => void done.push('seeming'),
    });
    await using proxy = await listen({
      host: '127.0.0.1',
      port: 0,
      async handler(request, response) {
        exchangeOf(response).once('close', left.resolve);
        await handler(request, response);
        answered.resolve();
      },
      async tunnel(asked) {
        sideOf(asked.request).once('close', left.resolve);
        await tunnel(asked);
        answered.resolve();
      },
      log: silentLog,
    });
    const client = connect(proxy.port, '127.0.0.1');
    await once(client, 'connect');
    client.write(
      `${method} ${uri} HTTP/1.1\r\nHost: a.example\r\nProxy-Authorization: Concealed good\r\n\r\n`,
    );
    await looked.promise;
    client.resetAndDestroy();
    await answered.promise;
    expect(done).toEqual([]);
  },
);
