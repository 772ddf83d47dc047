import { once } from 'node:events';
import http, { type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { answering, BEHIND_OTHERS, BROKEN } from '#shared/base/broken-answers.fixture.ts';
import { noAnswer, NoAnswer, openSend } from './send.ts';

/** Starts a server that accepts connections and never sends anything. */
async function silent() {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => {})));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    sockets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

describe('a server that accepts and stays silent', () => {
  test.each(['https', 'http'])(
    '%s: a silent server is given up after the time limit',
    async (scheme) => {
      await using server = await silent();
      const url = `${scheme}://127.0.0.1:${server.port}/`;
      const sent = openSend({ milliseconds: 100 })({ method: 'GET', url });
      // The error is that of the exchange's time limit, not of undici's limit for a connection.
      await expect(sent).rejects.toMatchObject({ cause: { name: 'TimeoutError' } });
    },
  );

  test('requests that wait for a connection behind others are given up after the time limit, too', async () => {
    await using server = await silent();
    const send = openSend({ milliseconds: 300 });
    const url = `https://127.0.0.1:${server.port}/`;
    const sent = Promise.allSettled(Array.from({ length: 60 }, () => send({ method: 'GET', url })));
    // The client opens as many connections at a time as it may.
    while (server.sockets.length < 16) await new Promise((resolve) => setImmediate(resolve));
    for (const outcome of await sent) {
      // The error is that of the exchange's time limit, not of a connection that began later.
      expect(outcome).toMatchObject({ reason: { cause: { name: 'TimeoutError' } } });
    }
  });
});

async function listen(handler: RequestListener) {
  const server = http.createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

test('a redirect is returned as an answer, and lines of one field are joined', async () => {
  const { server, url } = await listen((_, response) => {
    response.writeHead(302, {
      Location: 'https://evil.example/',
      'WWW-Authenticate': ['Bearer', 'DPoP'],
    });
    response.end('gone');
  });
  const answer = await openSend()({ method: 'GET', url });
  expect(answer.status).toBe(302);
  expect(answer.fields['www-authenticate']).toBe('Bearer, DPoP');
  expect(answer.body.toString()).toBe('gone');
  server.close();
});

test('without an answer the error names the origin, not the requested URL', async () => {
  const { server, url } = await listen(() => {});
  server.close();
  await once(server, 'close');
  const failed = openSend()({ method: 'GET', url: `${url}secret?token=x` });
  await expect(failed).rejects.toBeInstanceOf(NoAnswer);
  await expect(failed).rejects.toThrow(`no answer from ${new URL(url).origin}: `);
});

const coded = (code: string) => Object.assign(new Error('words of another program'), { code });

test.each<[string, unknown]>([
  ['network-time', new DOMException('other words', 'TimeoutError')],
  ['network-time', coded('UND_ERR_CONNECT_TIMEOUT')],
  ['network-time', coded('ETIMEDOUT')],
  ['network-untrusted', coded('SELF_SIGNED_CERT_IN_CHAIN')],
  ['network-untrusted', coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY')],
  ['network-name', coded('ENOTFOUND')],
  ['network-name', coded('EAI_AGAIN')],
  ['network-connection', coded('ECONNREFUSED')],
  ['network-connection', coded('ECONNRESET')],
  ['network-connection', coded('EHOSTUNREACH')],
  ['network-connection', coded('UND_ERR_SOCKET')],
  ['network-other', coded('HPE_INVALID_CONSTANT')],
  ['network-other', coded('CERT_HAS_EXPIRED')],
  ['network-other', new Error('bad upgrade')],
  ['network-other', Object.assign(new Error('no text'), { code: 7 })],
])('an error of the network has the code %s, whatever its words: %s', (code, error) => {
  const { words, cause } = noAnswer({ method: 'GET', url: 'https://a.example/x?y' }, error);
  expect(words).toMatchObject({
    code: 'no-answer',
    values: { server: 'https://a.example', why: { code } },
  });
  expect(cause).toBe(error);
});

test.each(Object.entries(BEHIND_OTHERS))(
  'RFC 9110 section 15.2: an answer behind %s is taken',
  async (_, answer) => {
    await using server = await answering(answer);
    await using send = openSend();
    expect(String((await send({ method: 'GET', url: server.url })).body)).toBe('{}');
  },
);

test.each(Object.entries(BROKEN))(
  'no answer: one with %s is a mistake that names the server',
  async (_, [answer, says]) => {
    await using server = await answering(answer);
    // Answers that only the time limit ends get a short limit; all others end by themselves.
    await using send = openSend({ milliseconds: says === 'timeout' ? 300 : 60_000 });
    const failing = send({ method: 'GET', url: server.url });
    await expect(failing).rejects.toBeInstanceOf(NoAnswer);
    await expect(failing).rejects.toThrow(`no answer from ${server.url}: `);
    await expect(failing).rejects.toThrow(says);
  },
);

test.each([
  [2000, 2000],
  [undefined, 65_536],
])('an answer may have a limited number of octets: %s', async (most, taken) => {
  const { server, url } = await listen(({ url: length = '' }, response) => {
    response.end('x'.repeat(Number(length.slice(1))));
  });
  await using send = openSend(most === undefined ? {} : { most });
  expect((await send({ method: 'GET', url: url + taken })).body).toHaveLength(taken);
  await expect(send({ method: 'GET', url: `${url}${taken + 1}` })).rejects.toThrow('longer than');
  server.close();
});
