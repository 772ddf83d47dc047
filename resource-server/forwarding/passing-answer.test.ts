import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turnsEnd } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { PassingAnswer } from './passing-answer.ts';

/** An answer on its way to a client, with a record of the writes to the client's connection. */
function passing() {
  const writes: string[] = [];
  const socket = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      writes.push(chunk.toString('latin1'));
      done();
    },
    writev(pieces, done) {
      writes.push(pieces.map(({ chunk }) => chunk.toString('latin1')).join(''));
      done();
    },
  });
  const request = new IncomingMessage(new Socket());
  Object.assign(request, { method: 'GET', httpVersion: '1.1' });
  Object.assign(request, { httpVersionMajor: 1, httpVersionMinor: 1 });
  const response = new ServerResponse(request);
  response.sendDate = false;
  response.assignSocket(socket as Socket);
  const answer = new PassingAnswer({ request, response, fields: {}, info: '', pseudonym: 'we' });
  const begin = (...rawHeaders: string[]) =>
    answer.begin({ status: 200, rawHeaders, httpVersion: '1.1' });
  return { answer, begin, writes };
}

const HEAD = 'HTTP/1.1 200 OK\r\nVia: 1.1 we\r\n';
const KEPT = 'Connection: keep-alive\r\n';

test('pieces of an answer that arrive in one turn of the event loop are sent together at its end', async () => {
  const { answer, begin, writes } = passing();
  begin('Content-Length', '2');
  answer.write(Buffer.from('a'));
  answer.write(Buffer.from('b'));
  answer.end([]);
  expect(writes).toEqual([]);
  await turnsEnd();
  expect(writes).toEqual([`${HEAD}Content-Length: 2\r\n${KEPT}\r\nab`]);
});

test.each([
  ['each octet', 256],
  ['much', 10_000],
])('content in one piece is sent with its head, octet for octet: %s', async (_, length) => {
  const { answer, begin, writes } = passing();
  const content = Buffer.from(Array.from({ length }, (__, index) => index % 256));
  begin('Content-Length', `${length}`);
  answer.write(content);
  answer.end([]);
  await turnsEnd();
  expect(writes).toEqual([
    `${HEAD}Content-Length: ${length}\r\n${KEPT}\r\n${content.toString('latin1')}`,
  ]);
});

test('the first piece of an answer does not wait for the next, nor does any piece wait for the end', async () => {
  const { answer, begin, writes } = passing();
  begin('Content-Length', '4');
  answer.write(Buffer.from('a'));
  await turnsEnd();
  expect(writes.splice(0)).toEqual([`${HEAD}Content-Length: 4\r\n${KEPT}\r\na`]);
  answer.write(Buffer.from('b'));
  await turnsEnd();
  expect(writes.splice(0)).toEqual(['b']);
});

test('chunks and trailers of an answer keep their order', async () => {
  const { answer, begin, writes } = passing();
  begin('Transfer-Encoding', 'chunked', 'Trailer', 'X-Sum');
  answer.write(Buffer.from('a'));
  answer.write(Buffer.from('b'));
  answer.end(['X-Sum', '2']);
  await turnsEnd();
  expect(writes).toEqual([
    `${HEAD}Trailer: X-Sum\r\n${KEPT}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\nX-Sum: 2\r\n\r\n`,
  ]);
});

test('the head of an answer does not wait for content, nor content for the end', async () => {
  const { answer, begin, writes } = passing();
  begin('Content-Length', '2');
  await turnsEnd();
  expect(writes.splice(0)).toEqual([`${HEAD}Content-Length: 2\r\n${KEPT}\r\n`]);
  answer.write(Buffer.from('a'));
  await turnsEnd();
  expect(writes.splice(0)).toEqual(['a']);
  answer.write(Buffer.from('b'));
  answer.end([]);
  await turnsEnd();
  expect(writes).toEqual(['b']);
});

test.each([
  [299, 'Odd', 'Odd'],
  [599, 'a\tb ~', 'a\tb ~'],
  [200, 'Fine', 'OK'],
  [299, undefined, 'unknown'],
  [299, '', 'unknown'],
  [299, 'Odd\r\nX-Injected: yes', 'unknown'],
  [299, 'Odd\nX-Injected: yes', 'unknown'],
  [299, 'Od\u0000d', 'unknown'],
  [299, 'Od\u010ad', 'unknown'],
  [299, 'a'.repeat(101), 'unknown'],
])('RFC 9112 section 4: the reason phrase of %d %j is %j', async (status, reason, expected) => {
  const { answer, writes } = passing();
  answer.begin({ status, reason, rawHeaders: ['Content-Length', '0'], httpVersion: '1.1' });
  answer.end([]);
  await turnsEnd();
  const [first] = writes.join('').split('\r\n');
  expect(first).toBe(`HTTP/1.1 ${status} ${expected}`);
  expect(writes.join('')).not.toContain('X-Injected');
});
