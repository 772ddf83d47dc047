/** @needs nghttp */
/** The push service (RFC 8030) over TLS, with third-party clients. */
import { execFile } from 'node:child_process';
import https from 'node:https';
import { promisify } from 'node:util';
import { buildPushPayload } from '@block65/webcrypto-web-push';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import webpush from 'web-push';
import type { Received, Subscription } from '../clients/push/user-agent.ts';
import { APPLICATION, type OwnAgent, type PushPlace, startPush } from '../flows/push-place.ts';

const run = promisify(execFile);
/** Asks for the stored messages only, without waiting (RFC 7240 section 4.3). */
const AT_ONCE = { prefer: 'wait=0' };

let place: PushPlace;
let agent: OwnAgent;
let token: string;
beforeAll(async () => {
  place = await startPush('sqlite');
  agent = place.agent();
  token = await place.token();
});
afterAll(async () => place[Symbol.asyncDispose]());

/** Receives the stored messages in one way, acknowledges them, and returns them. */
async function taken(subscription: Subscription, by: 'events' | 'push'): Promise<string[]> {
  const messages: Received[] = [];
  await agent.receive(subscription, (one) => messages.push(one), { by, fields: AT_ONCE });
  for (const { url } of messages) expect(await agent.remove(url)).toBe(204);
  return messages.map((one) => one.text);
}

const texts = ['Guten Tag', 'Grüße 🔔', 'x'.repeat(3000)];

describe('web-push', () => {
  const options = () => ({
    vapidDetails: APPLICATION,
    TTL: 60,
    agent: new https.Agent({ ca: place.ca }),
  });

  test('sends messages, which the user agent receives in both ways and decrypts', async () => {
    const subscription = await agent.subscribe(token, APPLICATION.publicKey);
    for (const by of ['events', 'push'] as const) {
      for (const text of texts) {
        const sent = await webpush.sendNotification(subscription, text, options());
        expect([sent.statusCode, sent.headers['ttl']]).toEqual([201, '60']);
      }
      expect(await taken(subscription, by)).toEqual(texts);
      expect(await taken(subscription, by)).toEqual([]);
    }
  });

  test('replaces a message by topic, and sets its urgency', async () => {
    const subscription = await agent.subscribe(token);
    for (const text of ['1:0', '1:1']) {
      await webpush.sendNotification(subscription, text, { ...options(), topic: 'score' });
    }
    await webpush.sendNotification(subscription, 'later', { ...options(), urgency: 'low' });
    const urgent: string[] = [];
    await agent.receive(subscription, ({ text }) => urgent.push(text), {
      fields: { ...AT_ONCE, urgency: 'normal' },
    });
    expect(urgent).toEqual(['1:1']);
    expect(await taken(subscription, 'push')).toEqual(['1:1', 'later']);
  });

  test('gets an error for a key of another subscription, and for a removed subscription', async () => {
    const subscription = await agent.subscribe(token, APPLICATION.publicKey);
    const other = { ...APPLICATION, ...webpush.generateVAPIDKeys() };
    await expect(
      webpush.sendNotification(subscription, 'no', { ...options(), vapidDetails: other }),
    ).rejects.toMatchObject({ statusCode: 403 });
    expect(await agent.remove(subscription.url)).toBe(204);
    await expect(webpush.sendNotification(subscription, 'late', options())).rejects.toMatchObject({
      statusCode: 404,
    });
  });

  test('gets an explanation if it uses the old encryption with Crypto-Key', async () => {
    const subscription = await agent.subscribe(token);
    await expect(
      webpush.sendNotification(subscription, 'old', { ...options(), contentEncoding: 'aesgcm' }),
    ).rejects.toMatchObject({
      statusCode: 403,
      body: expect.stringMatching(/send `vapid t=JWT, k=KEY`/),
    });
  });
});

test('@block65/webcrypto-web-push sends a message, which the user agent decrypts', async () => {
  const { endpoint, keys, ...subscription } = await agent.subscribe(token, APPLICATION.publicKey);
  const { headers, body } = await buildPushPayload(
    { data: 'Guten Tag', options: { ttl: 60, topic: 'greeting', urgency: 'high' } },
    { endpoint, keys, expirationTime: null },
    APPLICATION,
  );
  expect((await place.send({ endpoint, headers, body })).status).toBe(201);
  expect(await taken({ endpoint, keys, ...subscription }, 'push')).toEqual(['Guten Tag']);
});

test('RFC 8030 section 8: in clear text every resource is 403, and none asks for credentials', async () => {
  const { endpoint } = await agent.subscribe(token);
  const { resource } = place.flow.pair;
  const headers = { authorization: `Bearer ${token}`, ttl: '60' };
  for (const path of ['/push/subscribe', new URL(endpoint).pathname]) {
    for (const fields of [{}, headers]) {
      const answer = await fetch(resource + path, { method: 'POST', headers: fields });
      expect(answer.status).toBe(403);
      expect(answer.headers.get('www-authenticate')).toBeNull();
      expect(await answer.text()).toContain(`use ${place.origin}/push/`);
    }
  }
});

describe('nghttp', () => {
  const nghttp = async (...args: readonly string[]) => {
    const { stdout } = await run('nghttp', ['--no-verify-peer', '--timeout=20s', ...args]);
    return stdout;
  };

  test('receives messages by server push, each as the answer to a promised request', async () => {
    const { url, endpoint } = await agent.subscribe(token);
    const paths: string[] = [];
    for (const body of ['first', 'second']) {
      const headers = { ttl: '60', 'content-type': 'text/plain', 'content-encoding': 'aes128gcm' };
      const sent = await place.send({ endpoint, headers, body: Buffer.from(body) });
      paths.push(new URL(String(sent.headers.location)).pathname);
    }
    const printed = await nghttp('--verbose', '-H', 'prefer: wait=0', url);
    const promised = [...printed.matchAll(/recv \(stream_id=\d+\) :path: (\S+)/g)];
    expect(promised.map(([, path]) => path)).toEqual(paths);
    expect(printed).toMatch(/first[^]*second/);
  });

  test('gets a hint to events if it accepts no server push', async () => {
    const { url } = await agent.subscribe(token);
    expect(await nghttp('--no-push', url)).toMatch(/"status":406.*text\/event-stream/);
  });
});
