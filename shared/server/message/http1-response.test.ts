import { once } from 'node:events';
import { createServer, ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Fields } from '#shared/http/answer.ts';
import { Http1Response } from './http1-response.ts';
import { holdFields, setFields } from './message.ts';

type Write = (response: ServerResponse) => void;

let write: Write;
const servers = [Http1Response, ServerResponse].map((kind) =>
  createServer({ ServerResponse: kind, keepAlive: false }, (_, response) => {
    response.sendDate = false;
    write(response);
  }).listen(0, '127.0.0.1'),
);
beforeAll(() => Promise.all(servers.map((server) => once(server, 'listening'))));
afterAll(() => servers.forEach((server) => server.close()));

/** Returns the answer on the wire twice: with held fields, and as node:http alone writes it. */
async function wire(method: string, how: Write): Promise<readonly string[]> {
  write = how;
  const answers: string[] = [];
  for (const server of servers) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.end(`${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    answers.push(await text(socket));
  }
  return answers;
}

const FIELDS: Fields = {
  'X-One': '1',
  'Set-Cookie': ['a=1', 'b=2'],
  Vary: ['a', 'b'],
  ETag: '"e"',
};

const WAYS: Readonly<Record<string, Write>> = {
  'with content': (response) => response.end('content'),
  'without content': (response) => response.end(),
  'in pieces': (response) => {
    response.write('one');
    response.end('two');
  },
  '204': (response) => {
    response.statusCode = 204;
    response.end();
  },
  '204 with content, which it must not have': (response) => {
    response.statusCode = 204;
    response.end('none');
  },
  '304': (response) => {
    response.statusCode = 304;
    response.end();
  },
  'one that says otherwise, in another case': (response) => {
    holdFields(response, { 'x-one': '2', 'Content-Length': '2' });
    response.end('ok');
  },
  'fields of which one is removed': (response) => {
    response.removeHeader('x-ONE');
    response.end('ok');
  },
  'fields that somebody looks at and adds to': (response) => {
    response.setHeader('X-Seen', response.getHeaderNames().join());
    response.setHeader(
      'etag',
      `${String(response.getHeader('ETag'))}${response.hasHeader('vary')}`,
    );
    response.appendHeader('X-One', '2');
    holdFields(response, { 'X-Last': Object.keys(response.getHeaders()).join() });
    response.end('ok');
  },
  'a head that is written with more': (response) => {
    response.writeHead(201, { 'X-One': '2', 'X-More': '3' });
    response.end('ok');
  },
};

test.each(Object.keys(WAYS))('the sent fields are those that were set: %s', async (way) => {
  for (const method of ['GET', 'HEAD']) {
    const [held, set] = await wire(method, (response) => {
      holdFields(response, FIELDS);
      WAYS[way]?.(response);
    });
    expect(held).toMatch(/^HTTP\/1\.1 \d+ [^]*\r\n\r\n/);
    expect(held).toBe(set);
  }
});

test('no field is added to an answer that has begun', async () => {
  for (const add of [holdFields, setFields]) {
    await wire('GET', (response) => {
      response.write('begun');
      expect(() => add(response, FIELDS)).toThrow();
      response.end();
    });
  }
});

test('reading the fields of a written answer changes nothing', async () => {
  const [held, set] = await wire('GET', (response) => {
    holdFields(response, FIELDS);
    response.end('ok');
    expect(() => response.getHeader('x-one')).not.toThrow();
  });
  expect(held).toBe(set);
});

test.each([200, 204, 304])(
  '%i with a malformed field gives an answer with content and the fields before it',
  async (status) => {
    const [held, set] = await wire('GET', (response) => {
      expect(() => {
        response.statusCode = status;
        holdFields(response, { 'X-Before': '1', 'X-Bad': 'a\nb: c', 'X-After': '1' });
        response.end('never');
      }).toThrow('Invalid character in header content ["X-Bad"]');
      response.statusCode = 500;
      holdFields(response, { 'X-Why': 'it' });
      response.end('told');
    });
    expect(held).toMatch(/^HTTP\/1\.1 500 Internal Server Error\r\nX-Before: 1\r\nX-Why: it\r\n/);
    expect(held).toMatch(/\r\nContent-Length: 4\r\n[^]*told$/);
    expect(held).toBe(set);
  },
);

test('a field can be read after it was written', async () => {
  const read: unknown[] = [];
  await wire('GET', (response) => {
    holdFields(response, FIELDS);
    response.write('content');
    read.push([response.getHeader('etag'), response.getHeader('x-none')]);
    response.end();
  });
  expect(read).toEqual([
    ['"e"', undefined],
    ['"e"', undefined],
  ]);
});
