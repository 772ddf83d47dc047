import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import type { Hearing } from '#shared/auth/tokens/issuer-clock.ts';
import { fetchJson } from './fetch-json.ts';

async function fetched(answer: RequestListener, hear?: Hearing): Promise<unknown> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    const { port } = server.address() as AddressInfo;
    return await fetchJson(`http://127.0.0.1:${port}/jwks?a=b`, hear);
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

test('RFC 7517 section 5: JSON is read with any media type', async () => {
  const asked: unknown[] = [];
  const document = await fetched(({ method, url, headers }, response) => {
    asked.push([method, url, headers.accept]);
    response.end('{"keys":[]}');
  });
  expect(document).toEqual({ keys: [] });
  expect(asked).toEqual([['GET', '/jwks?a=b', 'application/json']]);
});

test('the hook sees the fields of each answer, whatever its status', async () => {
  const heard: unknown[] = [];
  const hear = () => (fields: object) => heard.push(fields);
  const answer = fetched((_, response) => response.writeHead(503, { Age: '1' }).end(), hear);
  await expect(answer).rejects.toThrow('answered 503');
  expect(heard).toEqual([expect.objectContaining({ age: '1', date: expect.any(String) })]);
});

test('an answer that is not JSON gives undefined', async () => {
  expect(await fetched((_, response) => response.end('<!doctype html>'))).toBeUndefined();
});

test.each([204, 301, 404, 500])('an answer with %i is an error', async (status) => {
  const answer = fetched((_, response) =>
    response.writeHead(status, { Location: '/elsewhere' }).end(),
  );
  await expect(answer).rejects.toThrow(`answered ${status}`);
});

test('an endless answer is an error after 64 KiB', async () => {
  const answer = fetched((_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(16_384)));
    };
    response.on('drain', more);
    more();
  });
  await expect(answer).rejects.toThrow('longer than');
});
