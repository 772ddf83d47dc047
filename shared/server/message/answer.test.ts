import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { silentLog } from '#shared/base/log.ts';
import { send } from './answer.ts';
import { type Handler, listen } from '../listen/listen.ts';
import { exchange } from '../wire/test-socket.fixture.ts';

const ANSWER = { status: 200, fields: {}, body: 'the answer' };
const GET = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Returns the octets that a client gets, and the logged errors. */
async function received(handler: Handler): Promise<{ text: string; errors: readonly string[] }> {
  const errors: string[] = [];
  const log = { ...silentLog, error: (event: string) => void errors.push(event) };
  const listening = await listen({ host: '127.0.0.1', port: 0, handler, log });
  const text = await exchange(listening, GET);
  await listening.close(0);
  return { text, errors };
}

test('a second answer to a client is ignored, without an error', async () => {
  const { text, errors } = await received(async (request, response) => {
    response.writeHead(408).end('too slow');
    await once(response, 'finish');
    send(request, response, ANSWER);
  });
  expect(text).toMatch(/^HTTP\/1\.1 408 /);
  expect(text).not.toContain('the answer');
  expect(errors).toEqual([]);
});

test.each<[string, string | Uint8Array]>([
  ['each octet', Uint8Array.from({ length: 256 }, (_, octet) => octet)],
  ['part of a buffer', Uint8Array.from({ length: 256 }, (_, octet) => octet).subarray(200)],
  ['many octets', Buffer.alloc(10_000, 0xe4)],
  ['text of one octet a character', 'abc'],
  ['other text', 'ä€\u{1f511}'],
  ['nothing', ''],
])('RFC 9110 section 6.4: content is sent octet for octet: %s', async (_, body) => {
  const { text } = await received((request, response) => {
    send(request, response, { ...ANSWER, body });
  });
  const [head = '', content] = text.split(/\r\n\r\n([^]*)/);
  expect(content).toBe(Buffer.from(body as string).toString('latin1'));
  expect(head).toMatch(new RegExp(`^content-length: ${Buffer.byteLength(body)}$`, 'im'));
});

test('an unfinished answer is cut off, so that the client sees that the answer is incomplete', async () => {
  const { text, errors } = await received((request, response) => {
    response.writeHead(200, { 'Content-Length': 100 }).write('begun');
    send(request, response, ANSWER);
  });
  expect(text).not.toContain('the answer');
  expect(errors).toEqual(['handler failed']);
});
