import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Failure } from '../command.ts';
import { parseSafeUrl, send } from './http.ts';

test.each([
  'https://api.example/a?b',
  'http://localhost:3001/',
  'http://127.0.0.1/',
  'http://[::1]:3/',
])('%s may get a token', (text) => {
  expect(parseSafeUrl(text)?.href).toBe(text);
});

test.each([
  '',
  'x',
  'http://api.example/',
  'ftp://localhost/',
  'https://user@api.example/',
  'https://:pw@api.example/',
  'https://api.example/#a',
  'https://api.example/#',
  'javascript:alert(1)',
  'http://localhost.evil.example/',
  'http://127.0.0.1@evil.example/',
])('%j may not', (text) => {
  expect(parseSafeUrl(text)).toBeUndefined();
});

test('no text gives a URL in clear to another machine, or one with a user', () => {
  const text = fc.array(
    fc.constantFrom(
      'http',
      's',
      '://',
      'localhost',
      '127.0.0.1',
      'evil.example',
      '@',
      ':',
      '/',
      '#',
      '\\',
      '\t',
      '?',
      '8',
      '[::1]',
    ),
  );
  fc.assert(
    fc.property(text, (parts) => {
      const url = parseSafeUrl(parts.join(''));
      if (url === undefined) return;
      expect(url.username + url.password + url.hash).toBe('');
      expect(url.protocol === 'https:' || /^(localhost|127\..*|\[::1\])$/.test(url.hostname)).toBe(
        true,
      );
    }),
    { numRuns: 1000 },
  );
});

async function listen(handler: RequestListener) {
  const server = createServer(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

test('a redirect is an answer; lines of one field are joined', async () => {
  const { server, url } = await listen((_, response) => {
    response.writeHead(302, {
      Location: 'https://evil.example/',
      'WWW-Authenticate': ['Bearer', 'DPoP'],
    });
    response.end('gone');
  });
  const answer = await send({ method: 'GET', url });
  expect(answer.status).toBe(302);
  expect(answer.fields['www-authenticate']).toBe('Bearer, DPoP');
  expect(answer.body.toString()).toBe('gone');
  server.close();
});

test('no answer is a failure that names the origin', async () => {
  const { server, url } = await listen(() => {});
  server.close();
  await once(server, 'close');
  const failed = send({ method: 'GET', url: `${url}secret?token=x` });
  await expect(failed).rejects.toBeInstanceOf(Failure);
  await expect(failed).rejects.toThrow(`no answer from ${new URL(url).origin}: `);
});
