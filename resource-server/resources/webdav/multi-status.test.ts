import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { conditionMarkup } from './dav-error.ts';
import { type MemberResponse, multiStatus } from './multi-status.ts';
import { silentLog } from '#shared/base/log.ts';
import { errorAnswer } from '#shared/server/message/answer.ts';
import { onKoa } from '../../answers/koa.ts';
import { davChild, elementsOf } from './xml-element.ts';
import { parseXml } from './xml-parser.ts';

const servers: http.Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Sends an answer with these responses to a client, which has not read its content yet. */
async function answer(pages: Parameters<typeof multiStatus>[0]): Promise<IncomingMessage> {
  const run = onKoa(() => multiStatus(pages).catch(errorAnswer), silentLog);
  const server = http.createServer((request, response) => void run({ request, response }));
  server.listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const request = http.get({ host: '127.0.0.1', port, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  request.on('error', () => {}); // the test detects a reset by the response
  return response;
}

const member = (index: number): MemberResponse => ({ href: `/${index}`, status: 423 });

describe('RFC 4918 section 13: a multi-status', () => {
  test('a short multi-status is sent at once', async () => {
    const response = await answer([[member(1)], [member(2)]]);
    expect(response.statusCode).toBe(207);
    expect(response.headers['content-type']).toBe('application/xml; charset="utf-8"');
    const content = await text(response);
    expect(response.headers['content-length']).toBe(String(Buffer.byteLength(content)));
    expect(content).toBe(
      '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">' +
        '<D:response><D:href>/1</D:href><D:status>HTTP/1.1 423 Locked</D:status></D:response>' +
        '<D:response><D:href>/2</D:href><D:status>HTTP/1.1 423 Locked</D:status></D:response>' +
        '</D:multistatus>',
    );
  });

  test('other requests are served between two pieces of a long multi-status', async () => {
    let turn = 0;
    let counting = setImmediate(function count() {
      turn += 1;
      counting = setImmediate(count);
    });
    const turns: number[] = [];
    function* responses() {
      for (let index = 0; index < 100; index += 1) {
        turns.push(turn);
        yield { href: `/${'x'.repeat(64 * 1024)}`, status: 423 };
      }
    }
    expect((await text(await answer([responses()]))).length).toBeGreaterThan(6_500_000);
    clearImmediate(counting);
    expect(new Set(turns).size).toBe(100);
  });

  test('an empty multi-status is a valid document', async () => {
    expect(parseXml(await text(await answer([])))).toMatchObject({ name: 'multistatus' });
  });

  test('a multi-status has the status of properties (section 14.22) and the reason (section 16)', async () => {
    const condition = conditionMarkup('cannot-modify-protected-property');
    const response = await answer([
      [
        {
          href: '/a&b/<c>',
          propstats: [
            { status: 403, properties: ['<D:getetag/>'], condition },
            { status: 424, properties: ['<x/>', '<y/>'] },
          ],
        },
        {
          href: '/d',
          status: 423,
          condition: conditionMarkup('lock-token-submitted', ['/d?<"&>']),
        },
      ],
    ]);
    const content = await text(response);
    const [first, second] = elementsOf(parseXml(content));
    expect(first && davChild(first, 'href')?.children).toEqual(['/a&b/<c>']);
    expect(content).toContain(
      '<D:propstat><D:prop><D:getetag/></D:prop><D:status>HTTP/1.1 403 Forbidden</D:status>' +
        '<D:error><D:cannot-modify-protected-property/></D:error></D:propstat>' +
        '<D:propstat><D:prop><x/><y/></D:prop><D:status>HTTP/1.1 424 Failed Dependency</D:status></D:propstat>',
    );
    expect(second && davChild(second, 'error')?.children).toMatchObject([
      { name: 'lock-token-submitted', children: [{ name: 'href', children: ['/d?<"&>'] }] },
    ]);
  });
});

describe('a long answer', () => {
  test('a long multi-status is sent while it is generated, and is complete', async () => {
    const response = await answer([Array.from({ length: 2500 }, (_, index) => member(index))]);
    expect(response.headers['content-length']).toBeUndefined();
    const hrefs = elementsOf(parseXml(await text(response))).map(
      (one) => davChild(one, 'href')?.children[0],
    );
    expect(hrefs).toEqual(Array.from({ length: 2500 }, (_, index) => `/${index}`));
  });

  test('a long multi-status is no longer generated when the client leaves', async () => {
    const { promise: end, resolve } = Promise.withResolvers<void>();
    async function* endless(): AsyncGenerator<readonly MemberResponse[]> {
      try {
        for (let index = 0; ; index += 1) yield [member(index)];
      } finally {
        resolve();
      }
    }
    const response = await answer(endless());
    response.destroy();
    await expect(end).resolves.toBeUndefined();
  });

  test('a failure during a long multi-status closes the connection, so that the answer never looks complete', async () => {
    async function* failing(): AsyncGenerator<readonly MemberResponse[]> {
      for (let index = 0; index < 5000; index += 1) yield [member(index)];
      throw new Error('the store is gone');
    }
    await expect(text(await answer(failing()))).rejects.toThrow('aborted');
  });

  test('a failure at the beginning of a multi-status gives another answer', async () => {
    async function* failing(): AsyncGenerator<readonly MemberResponse[]> {
      yield [member(1)];
      throw new Error('the store is gone');
    }
    expect((await answer(failing())).statusCode).toBe(500);
  });
});
