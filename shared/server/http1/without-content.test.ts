import { expect, test } from '@jest/globals';
import type { Handler } from '../listen/listen.ts';
import { exchange, statuses, TestSocket } from '../wire/test-socket.fixture.ts';
import { CLOSING_GET, echo, GET, start } from '../wire/wire.fixture.ts';

/** Answers with the content that it has read, now or in a later turn. */
const reader: Handler = async (request, response) => {
  if (request.url === '/later') await new Promise((resolve) => setImmediate(resolve));
  response.end(`read <${await echo(request)}>`);
};

test.each(['GET', 'POST', 'PUT', 'DELETE'])(
  'RFC 9112 section 6.3: %s without a length has no content, whenever it is read',
  async (method) => {
    const listening = await start(reader);
    const asked = (target: string) => `${method} ${target} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const received = await exchange(listening, asked('/') + asked('/later') + CLOSING_GET);
    expect(statuses(received)).toEqual([200, 200, 200]);
    expect(received.match(/read <>/g)).toHaveLength(3);
  },
);

test('octets after a request without content begin the next request', async () => {
  const received = await exchange(await start(reader), `${GET}hello${CLOSING_GET}`);
  expect(statuses(received)).toEqual([200, 501]);
});

test('the next request on the connection keeps its content', async () => {
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello';
  const received = await exchange(await start(reader), GET + post + CLOSING_GET);
  expect(received.match(/read <.*?>/g)).toEqual(['read <>', 'read <hello>', 'read <>']);
});

test('RFC 9110 section 10.1.1: a request with an expectation and without content gets 100 when it is read', async () => {
  const expecting = CLOSING_GET.replace('\r\n\r\n', '\r\nExpect: 100-continue\r\n\r\n');
  expect(statuses(await exchange(await start(reader), expecting))).toEqual([100, 200]);
});

test('the answer emits `close` when the client disconnects', async () => {
  const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<boolean>()];
  const listening = await start((_request, response) => {
    response.once('close', () => left.resolve(response.writableFinished));
    arrived.resolve();
  });
  const client = new TestSocket(listening);
  client.socket.write(GET);
  await arrived.promise;
  client.socket.destroy();
  expect(await left.promise).toBe(false);
});
