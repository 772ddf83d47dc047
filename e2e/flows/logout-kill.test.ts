/** @slow */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { systemClock } from '#shared/base/clock.ts';
import { endSignIn, findSignIn, listSignIns } from '#shared/people/access/sign-ins.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { until } from '../parts/process.ts';
import { startFlowOn, STORE_KINDS } from './flow.ts';
import { App, newPerson, signedIn } from './person.ts';

const ROUNDS = 12;
/** The server is killed within so many milliseconds after the end: it looks for logouts every 250 ms. */
const LIFE = 350;

/** An application that accepts logout tokens, slowly enough that a kill meets a request. */
async function startApplication() {
  const heard = new Set<unknown>();
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      await sleep(randomInt(50));
      heard.add(decodeJwt(new URLSearchParams(body).get('logout_token') ?? '')['sid']);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/logout`,
    heard,
    [Symbol.dispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test.each(STORE_KINDS)(
  'on %s: after a kill -9 between an end and its logout token, the application still gets the token',
  async (kind) => {
    using application = await startApplication();
    await using flow = await startFlowOn(kind);
    const [server] = flow.pair.authz;
    const app = await App.add(flow, '--logout-url', application.url);
    const store = { ...flow, clock: systemClock, longestLife: longestLife(flow.config) };
    const ended: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const person = await newPerson(flow);
      const browser = await signedIn(flow, person);
      const { id } = await app.tokens(browser, { scope: 'openid documents:read' });
      const [signIn] = await listSignIns(store, person.id);
      if (signIn === undefined) throw new Error('there is no sign-in');
      const page = await browser.open('/sign-out');
      // In every other round the server that is killed ends the sign-in itself.
      let ending: Promise<unknown> = Promise.resolve();
      if (round % 2 === 0) ending = browser.send(page, { logout: 'yes' }).catch(() => {});
      else await endSignIn(store, signIn);
      await sleep(randomInt(LIFE));
      await server?.kill();
      await ending;
      await server?.start();
      if ((await findSignIn(store, signIn.uid)) === undefined) ended.push(decodeJwt(id)['sid']);
    }
    expect(ended.length).toBeGreaterThanOrEqual(ROUNDS / 2);
    await until(() => ended.every((sid) => application.heard.has(sid)));
    await until(async () => (await flow.stores.logouts.backlog()).count === 0);
  },
);
