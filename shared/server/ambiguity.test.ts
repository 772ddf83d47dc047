import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { silentLog } from '#shared/log.ts';
import { ambiguous } from './ambiguity.ts';
import { listen, type Listening } from './listen.ts';
import { exchange } from './test-socket.ts';

let listening: Listening;

beforeAll(async () => {
  listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler: (request, response) => void response.end(`reason: ${ambiguous(request) ?? 'none'}.`),
    log: silentLog,
  });
});

afterAll(() => listening.close(0));

/** The reason that the handler saw for this request. */
async function reasonFor(fields: string, line = 'GET / HTTP/1.1'): Promise<string | undefined> {
  const received = await exchange(
    listening,
    `${line}\r\n${fields}Connection: close\r\n\r\n0\r\n\r\n`,
  );
  return /reason: (.*)\./.exec(received)?.[1];
}

describe('RFC 9112 section 3.2: Host', () => {
  test.each([
    ['none', ''],
    ['two lines', 'Host: a\r\nHost: a\r\n'],
    ['two lines that differ', 'Host: a\r\nhost: b\r\n'],
    ['a path', 'Host: a/b\r\n'],
    ['two hosts', 'Host: a, b\r\n'],
    ['userinfo', 'Host: a@b\r\n'],
    ['a port that is none', 'Host: a:b\r\n'],
  ])('%s is refused', async (_, fields) => {
    expect(await reasonFor(fields)).not.toBe('none');
  });

  test.each([
    ['a host and a port', 'Host: a.example:80\r\n', 'GET / HTTP/1.1'],
    ['an address', 'Host: [::1]:80\r\n', 'GET / HTTP/1.1'],
    ['empty, of a target without authority', 'Host:\r\n', 'GET / HTTP/1.1'],
    ['absent from HTTP/1.0', '', 'GET / HTTP/1.0'],
    [
      'other than in an absolute-form target, which wins (section 3.2.2)',
      'Host: b\r\n',
      'GET http://a/ HTTP/1.1',
    ],
  ])('%s is accepted', async (_, fields, line) => {
    expect(await reasonFor(fields, line)).toBe('none');
  });

  test('an invalid one is refused in HTTP/1.0 and beside an absolute-form target as well', async () => {
    expect(await reasonFor('Host: a b\r\n', 'GET / HTTP/1.0')).not.toBe('none');
    expect(await reasonFor('Host: a b\r\n', 'GET http://a/ HTTP/1.1')).not.toBe('none');
  });
});

describe('RFC 9110 section 5.3: fields of one line', () => {
  test.each([
    ['Authorization', 'Authorization: Bearer a\r\nAuthorization: Bearer b\r\n'],
    ['the same Authorization', 'Authorization: Bearer a\r\nAUTHORIZATION: Bearer a\r\n'],
    ['Proxy-Authorization', 'Proxy-Authorization: a\r\nProxy-Authorization: b\r\n'],
  ])('%s twice is refused', async (_, fields) => {
    expect(await reasonFor(`Host: a\r\n${fields}`)).toMatch(/once/);
  });

  test('other fields may come twice', async () => {
    expect(await reasonFor('Host: a\r\nX_A: 1\r\nX_A: 2\r\nAccept: a\r\nAccept: b\r\n')).toBe(
      'none',
    );
  });
});

describe('RFC 9112 section 11.2: what another parser could take for framing', () => {
  test.each([
    'Content_Length',
    'content.length',
    'Transfer_Encoding',
    "Transfer'Encoding",
    'PROXY_AUTHORIZATION',
  ])('%s is refused', async (name) => {
    expect(await reasonFor(`Host: a\r\n${name}: 5\r\n`)).toMatch(/hyphens/);
  });

  test.each(['gzip, chunked', 'identity, chunked', 'chunked;a=b, chunked'])(
    'Transfer-Encoding: %s is not understood',
    async (coding) => {
      const reason = await reasonFor(
        `Host: a\r\nTransfer-Encoding: ${coding}\r\n`,
        'POST / HTTP/1.1',
      );
      expect(reason).toMatch(/only transfer coding/);
    },
  );

  test('two lines of Transfer-Encoding are refused', async () => {
    const fields = 'Host: a\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n';
    expect(await reasonFor(fields, 'POST / HTTP/1.1')).toMatch(/once/);
  });

  test('section 6.1: HTTP/1.0 has no Transfer-Encoding', async () => {
    const fields = 'Host: a\r\nTransfer-Encoding: chunked\r\n';
    expect(await reasonFor(fields, 'POST / HTTP/1.0')).toMatch(/HTTP\/1\.0/);
    expect(await reasonFor(fields.replace('chunked', 'CHUNKED'), 'POST / HTTP/1.1')).toBe('none');
  });
});
