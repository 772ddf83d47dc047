import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { TestShell } from '../cli.fixture.ts';
import type { Reply } from '../listen.fixture.ts';
import { messagesOf, type PushMessage } from './messages.ts';
import { events, GONE, pushService, SUBSCRIPTION } from './service.fixture.ts';

const BODY = Buffer.from('text').toString('base64url');

let shell: TestShell;
/** The pauses in milliseconds. */
let pauses: number[];
beforeEach(() => {
  shell = new TestShell();
  pauses = [];
  const { wait } = shell;
  shell.wait = async (milliseconds) => {
    pauses.push(milliseconds);
    await wait.call(shell, milliseconds);
  };
});

const never = new AbortController().signal;
const read = (url: string, signal = never) => messagesOf(url, { fields: {}, signal }, shell);

/** Reads all messages. `ended`: the reason for the end. */
async function readAll(...waits: readonly (Reply | undefined | ((origin: string) => Reply))[]) {
  const service = await pushService({
    waits: waits.map((wait) => (typeof wait === 'function' ? wait : () => wait)),
  });
  const messages: PushMessage[] = [];
  let ended = '';
  try {
    for await (const message of read(service.origin + SUBSCRIPTION)) messages.push(message);
  } catch (error) {
    ended = (error as Error).message;
  }
  return { messages, ended, service };
}

const event = (origin: string, id: string) => ({ url: `${origin}/push/message/${id}`, body: BODY });

describe('messages of a subscription', () => {
  test('arrive in order, and other events are ignored', async () => {
    const { messages, ended, service } = await readAll(
      (origin) =>
        events(
          { ...event(origin, 'a'), coding: 'aes128gcm', type: 'text/plain' },
          'event: receipt\ndata: {}\n\n',
          event(origin, 'b'),
        ),
      GONE,
    );
    const { origin } = service;
    expect(messages).toEqual([
      {
        url: `${origin}/push/message/a`,
        coding: 'aes128gcm',
        type: 'text/plain',
        body: Buffer.from('text'),
      },
      { url: `${origin}/push/message/b`, body: Buffer.from('text') },
    ]);
    expect(ended).toContain('the subscription has ended');
    expect(service.received[0]?.headers.accept).toBe('text/event-stream');
    expect(shell.stderr).toBe('the push service ended the connection: again in 1 s\n');
  });

  test('are awaited with pauses from 1 s to 30 s', async () => {
    await readAll(
      undefined,
      { status: 503 },
      events(),
      undefined,
      undefined,
      undefined,
      events(),
      GONE,
    );
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    expect(shell.stderr).toMatch(
      /^no answer from http:.*: again in 1 s\nhttp:.* answers 503: again/,
    );
  });

  test('are awaited after 1 s again, once a connection has lasted more than 30 s', async () => {
    const late = () => {
      shell.clock.advance(31);
      return events();
    };
    await readAll(undefined, undefined, late, undefined, GONE);
    expect(pauses).toEqual([1000, 2000, 1000, 2000]);
  });

  test('are awaited at least for Retry-After, and at most for a day', async () => {
    const later = (value: string) => () => ({ status: 429, fields: { 'retry-after': value } });
    const soon = () => later(new Date(shell.clock.now() + 50_000).toUTCString())();
    await readAll(later('60'), soon, later('0'), later('999999999999'), later('soon'), GONE);
    expect(pauses).toEqual([60_000, 50_000, 4000, 86_400_000, 16_000]);
  });

  test.each([
    ['404: the subscription has ended', GONE, 'the subscription has ended'],
    ['410: likewise', { status: 410 }, 'the subscription has ended'],
    ['a redirect is not followed', { status: 307, fields: { location: '/x' } }, 'answers 307'],
    ['no event stream', { body: 'text' }, 'answers 200 and sends no events'],
    ['an event without data in JSON', events('data: {\n\n'), 'sent an event that is no message'],
    ['an event without a body', events({ url: '/a' }), 'sent an event that is no message'],
    ['a body that is not base64url', events({ url: '/a', body: '=' }), 'that is no message'],
    [
      'a message at another origin',
      events({ url: 'https://other.example/a', body: BODY }),
      'sent an event that is no message',
    ],
    ['an event that is too long', events(`data: ${'x'.repeat(20_000)}`), 'more than 16384'],
  ])('end after %s, without another request', async (_, wait, reason) => {
    const { messages, ended, service } = await readAll(wait);
    expect([messages, ended]).toEqual([[], expect.stringContaining(reason)]);
    expect(service.received).toHaveLength(1);
  });

  test('end when the signal aborts a pause', async () => {
    const { origin } = await pushService({ waits: [() => undefined] });
    const ending = new AbortController();
    shell.wait = async (_, signal?: AbortSignal) => {
      ending.abort();
      signal?.throwIfAborted();
    };
    expect((await read(origin + SUBSCRIPTION, ending.signal).next()).done).toBe(true);
  });

  test('end when the signal aborts a silent connection', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.write(':\n\n');
      ending.abort();
    });
    const ending = new AbortController();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}${SUBSCRIPTION}`;
    expect((await read(url, ending.signal).next()).done).toBe(true);
    server.close();
    await once(server, 'close');
    expect(shell.stderr).toBe('');
  });
});
