import http2 from 'node:http2';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { systemClock } from '#shared/base/clock.ts';
import { jsonLog } from '#shared/base/log.ts';
import { errorAnswer, send } from '#shared/server/message/answer.ts';
import { contentDigest } from '#shared/server/content/content.ts';
import { type Listening, listen } from '#shared/server/listen/listen.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import { exchange, statuses, TestSocket } from '#shared/server/wire/test-socket.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { traceAnswer } from './trace.ts';

const HIDDEN = ['X-Papertrail', 'x-internal'];

async function handler(request: AnyRequest, response: AnyResponse): Promise<void> {
  try {
    if (request.url === '/digested') await contentDigest(request, 'sha256');
    send(request, response, await traceAnswer(request, HIDDEN));
  } catch (error) {
    send(request, response, errorAnswer(error));
  }
}

let server: Listening;
beforeAll(async () => {
  const log = jsonLog(() => {}, systemClock, 'test');
  server = await listen({ host: '127.0.0.1', port: 0, handler, http2: { handler }, log });
});
afterAll(() => server.close(0));

/** Returns the content of the answer to TRACE over HTTP/1.1 with these field lines. */
async function trace(fields: readonly string[], path = '/a', content = ''): Promise<string> {
  const head = [`TRACE ${path} HTTP/1.1`, 'Host: rs.example', 'Connection: close', ...fields];
  return exchange(server, `${head.join('\r\n')}\r\n\r\n${content}`);
}

const contentOf = (received: string) => received.slice(received.indexOf('\r\n\r\n') + 4);

/** Returns the answer to TRACE over HTTP/2. */
async function traceHttp2(fields: object, content: readonly (string | undefined)[] = []) {
  const client = http2.connect(`http://127.0.0.1:${server.port}`);
  try {
    const stream = client.request(
      {
        ':method': 'TRACE',
        ':scheme': 'http',
        ':authority': 'rs.example:81',
        ':path': '/a?key=secret',
        ...fields,
      },
      { endStream: content.length === 0 },
    );
    const answered = new Promise<http2.IncomingHttpHeaders>((resolve) => {
      stream.once('response', resolve);
    });
    for (const chunk of content) if (chunk !== undefined) stream.write(chunk);
    if (content.length > 0) stream.end();
    const { ':status': status } = (await answered) as { ':status'?: number };
    return { status, echo: await text(stream) };
  } finally {
    client.destroy();
  }
}

describe('RFC 9110 section 9.3.8: TRACE', () => {
  test('the answer to TRACE has the request as message/http, and is neither stored nor sniffed', async () => {
    const received = await trace([
      'Via: 1.1 a, 1.1 b',
      'X-Odd:  a  b ',
      'x-ODD: c',
      'Max-Forwards: 3',
    ]);
    expect(statuses(received)).toEqual([200]);
    expect(received).toMatch(/^content-type: message\/http\r$/im);
    expect(received).toMatch(/^cache-control: no-store\r$/im);
    expect(received).toMatch(/^x-content-type-options: nosniff\r$/im);
    expect(contentOf(received)).toBe(
      'TRACE /a HTTP/1.1\r\nHost: rs.example\r\nConnection: close\r\n' +
        'Via: 1.1 a, 1.1 b\r\nX-Odd: a  b\r\nx-ODD: c\r\nMax-Forwards: 3\r\n\r\n',
    );
  });

  test.each([
    'Authorization: Basic secret',
    'Proxy-Authorization: Basic secret',
    'Cookie: a=secret',
    'Cookie2: secret',
    'DPoP: secret',
    'X-API-Key: secret',
    'Api-Key: secret',
    'X_ApiKey: secret',
    'X-Auth-Token: secret',
    'X-Amz-Security-Token: secret',
    'X-Amzn-OIDC-Data: secret',
    'X-CSRF-Token: secret',
    'X-Session-Id: secret',
    'X-Forwarded-Client-Cert: secret',
    'Concealed-Auth-Export: secret',
    'Signature: secret',
    'Client-Secret: secret',
    'X-Password: secret',
    'Lock-Token: <urn:uuid:secret>',
    'Referer: https://a.example/?access_token=secret',
    'X-Forwarded-Uri: /?key=secret',
    'X-Original-URL: /?key=secret',
    'X-Papertrail: secret',
    'X-INTERNAL: secret',
  ])('TRACE leaves out a field that is likely to be secret: %s', async (line) => {
    const shouted = line.toUpperCase().replace('SECRET', 'secret');
    // Two lines of credentials would make the request ambiguous.
    const lines = /^(?:Proxy-)?Authorization/.test(line) ? [shouted] : [line, shouted];
    const received = await trace([...lines, 'X-After: 1']);
    expect(statuses(received)).toEqual([200]);
    expect(received).not.toContain('secret');
    expect(received).toContain('X-After: 1');
  });

  test('TRACE leaves out an API key in any field', async () => {
    const { key } = newApiKey(systemRandom);
    const received = await trace([`X-Partner: ${key}`, 'X-Partner: own']);
    expect(contentOf(received)).not.toContain(key.slice(3, 19));
    expect(contentOf(received)).toContain('X-Partner: own');
  });

  test('TRACE masks the query, which may contain an API key', async () => {
    for (const path of [
      '/a?key=secret',
      '/a?secret',
      '/a?x=1?secret',
      'http://rs.example/a?secret',
    ]) {
      const received = await trace([], path);
      expect(received).toContain(`TRACE ${path.slice(0, path.indexOf('?'))}?*** HTTP/1.1`);
      expect(received).not.toContain('secret');
    }
  });

  test('TRACE returns octets unchanged', async () => {
    const utf8 = Buffer.from('grüße ✓').toString('latin1');
    expect(await trace([`X-A: ${utf8}`])).toContain(`X-A: ${utf8}\r\n`);
  });

  test('TRACE leaves out any field whose name suggests a secret', async () => {
    const part = fc.string({ unit: fc.constantFrom(...'abXY09-'.split('')), maxLength: 6 });
    const word = fc.constantFrom('auth', 'COOKIE', 'Api-Key', 'dpop', 'Token', 'secret', 'passwd');
    await fc.assert(
      fc.asyncProperty(part, word, part, async (before, name, after) => {
        const echo = contentOf(await trace([`${before}${name}${after}: visible`]));
        expect(echo).not.toContain('visible');
      }),
      { numRuns: 50 },
    );
  });
});

describe('RFC 9110 section 9.3.8: no content', () => {
  test.each([
    ['a length', ['Content-Length: 2'], 'ab'],
    ['a length, and nothing yet', ['Content-Length: 2'], ''],
    ['chunks', ['Transfer-Encoding: chunked'], '2\r\nab\r\n0\r\n\r\n'],
    ['a chunk that is empty', ['Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['chunks that never come', ['Transfer-Encoding: chunked'], ''],
  ])('TRACE with content is 400: %s', async (_, fields, content) => {
    const client = new TestSocket(server);
    const head = ['TRACE /a HTTP/1.1', 'Host: a', ...fields].join('\r\n');
    await client.send(`${head}\r\n\r\n${content}`);
    expect(await client.until('\r\n\r\n')).toMatch(/^HTTP\/1.1 400 /);
    client.socket.destroy();
  });

  test('TRACE with a length of 0 has no content', async () => {
    expect(statuses(await trace(['Content-Length: 0']))).toEqual([200]);
  });

  test('TRACE with content that was read for a digest is 400, too', async () => {
    expect(statuses(await trace(['Content-Length: 2'], '/digested', 'ab'))).toEqual([400]);
    expect(statuses(await trace([], '/digested'))).toEqual([200]);
  });
});

describe('RFC 9113: TRACE over HTTP/2', () => {
  test('section 8.3.1: TRACE over HTTP/2 is returned in the form of HTTP/1.1, without pseudo-header fields', async () => {
    const fields = { 'x-a': '1', authorization: 'Basic secret', 'x-papertrail': 'secret' };
    expect(await traceHttp2(fields)).toEqual({
      status: 200,
      echo: 'TRACE /a?*** HTTP/2.0\r\nHost: rs.example:81\r\nx-a: 1\r\n\r\n',
    });
  });

  test('TRACE over HTTP/2 returns octets unchanged', async () => {
    const { echo } = await traceHttp2({ 'x-a': Buffer.from('grüße').toString('latin1') });
    expect(echo).toContain('x-a: grüße\r\n');
  });

  test('section 8.1: a TRACE stream that ends with an empty frame has no content', async () => {
    expect(await traceHttp2({}, [undefined])).toMatchObject({ status: 200 });
    expect(await traceHttp2({}, [''])).toMatchObject({ status: 200 });
  });

  test.each([
    ['announced', { 'content-length': '2' }, ['ab']],
    ['not announced', {}, ['a', 'b']],
  ])('TRACE over HTTP/2 with content that is %s is 400', async (_, fields, content) => {
    expect(await traceHttp2(fields, content)).toMatchObject({ status: 400 });
  });
});
