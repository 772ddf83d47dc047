import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createResolve, systemResolve } from './resolve.ts';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** The answer of a DNS server for a name: no answer, a name that does not exist, or addresses. */
type Says = (name: string, family: 'A' | 'AAAA') => 'silence' | 'NXDOMAIN' | readonly string[];

/** Starts a DNS server (RFC 1035 section 4) on loopback, and records the questions. */
async function startDns(says: Says) {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length; (length = query[at] ?? 0) > 0; at += length + 1) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
    }
    const name = labels.join('.').toLowerCase();
    const family = query.readUInt16BE(at + 1) === 1 ? 'A' : 'AAAA';
    asked.push(`${family} ${name}`);
    const answer = says(name, family);
    if (answer === 'silence') return;
    const found = answer === 'NXDOMAIN' ? [] : answer;
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(answer === 'NXDOMAIN' ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(found.length, 6);
    const records = found.flatMap((one) => {
      const bytes = addressBytes(one);
      const type = family === 'A' ? 1 : 28;
      return [Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length]), bytes];
    });
    socket.send(Buffer.concat([head, query.subarray(12, at + 5), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  ends.push(() => socket.close());
  return { servers: [`127.0.0.1:${socket.address().port}`], asked };
}

/** Returns the bytes of an address. IPv6 is supported only as `2001:db8::` and one group. */
function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const last = (address.split('::')[1] ?? '').padStart(4, '0');
  return Buffer.from(`20010db8${'0000'.repeat(5)}${last}`, 'hex');
}

/** Writes a hosts file and returns its path. */
function hostsFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-hosts-'));
  ends.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'hosts');
  writeFileSync(path, text);
  return path;
}

const NONE = '/nowhere/hosts';

test('names whose servers do not answer delay no other look-up', async () => {
  const { servers } = await startDns((name) => (name.startsWith('slow') ? 'silence' : ['1.1.1.1']));
  const resolve = createResolve({ hosts: hostsFile('10.0.0.1 box'), servers, patience: 2000 });
  let over = 0;
  const slow = Array.from({ length: 100 }, (_, index) =>
    resolve(`slow${index}.example`).finally(() => {
      over += 1;
    }),
  );
  const settled = Promise.allSettled(slow);
  expect(await resolve('fast.example')).toContain('1.1.1.1');
  expect(await resolve('localhost')).toContain('127.0.0.1');
  expect(await resolve('box')).toEqual(['10.0.0.1']);
  expect(await systemResolve('localhost')).toContain('127.0.0.1');
  expect(over).toBe(0);
  const codes = (await settled).map((one): unknown => one.status === 'rejected' && one.reason);
  expect(codes[0]).toMatchObject({ code: expect.stringMatching(/^(ETIMEOUT|ECANCELLED)$/) });
  expect(over).toBe(100);
});

test('unresponsive servers are given up within the time limit, however many there are', async () => {
  const silent = await Promise.all(Array.from({ length: 5 }, () => startDns(() => 'silence')));
  const servers = silent.flatMap((one) => one.servers);
  const resolve = createResolve({ hosts: NONE, servers, patience: 1000 });
  // If the look-up waited for each server in sequence, the code would be ETIMEOUT.
  await expect(resolve('a.example')).rejects.toMatchObject({ code: 'ECANCELLED' });
});

test.each(['localhost', 'a.localhost', 'a.b.localhost'])(
  'RFC 6761 section 6.3: %s is loopback, whatever DNS or the hosts file says',
  async (name) => {
    const { servers, asked } = await startDns(() => ['1.1.1.1']);
    const hosts = hostsFile(`1.1.1.1 ${name}`);
    const resolve = createResolve({ hosts, servers, patience: 1000 });
    expect(await resolve(name)).toEqual(['127.0.0.1', '::1']);
    expect(asked).toEqual([]);
  },
);

describe('the hosts file, hosts(5)', () => {
  const text = [
    '# 10.0.0.9 commented',
    '10.0.0.1\tbox box.example  Other.EXAMPLE # not',
    '  fd00::1 box\r',
    '10.0.0.2 unfinished.example',
    'not-an-address broken',
    'fe80::1%lo0 zoned',
    '',
  ].join('\n');

  test.each([
    ['box', ['10.0.0.1', 'fd00::1']],
    ['box.example', ['10.0.0.1']],
    ['other.example', ['10.0.0.1']],
    ['unfinished.example', ['10.0.0.2']],
  ])('%s is found in the hosts file, without DNS', async (name, expected) => {
    const { servers, asked } = await startDns(() => ['1.1.1.1']);
    const resolve = createResolve({ hosts: hostsFile(text), servers, patience: 1000 });
    expect(await resolve(name)).toEqual(expected);
    expect(asked).toEqual([]);
  });

  test.each(['commented', 'not', 'broken', 'zoned', 'example', 'unfinished', '10.0.0.1'])(
    '%s is not found in the hosts file',
    async (name) => {
      const { servers } = await startDns(() => 'NXDOMAIN');
      const resolve = createResolve({ hosts: hostsFile(text), servers, patience: 1000 });
      await expect(resolve(name)).rejects.toMatchObject({ code: 'ENOTFOUND' });
    },
  );

  test('the hosts file is read at each look-up; an unreadable file is an error', async () => {
    const { servers } = await startDns(() => ['1.1.1.1']);
    const hosts = hostsFile('10.0.0.1 box');
    const resolve = createResolve({ hosts, servers, patience: 1000 });
    await resolve('box');
    writeFileSync(hosts, '10.0.0.2 box');
    expect(await resolve('box')).toEqual(['10.0.0.2']);
    const folder = createResolve({ hosts: tmpdir(), servers, patience: 1000 });
    await expect(folder('box')).rejects.toMatchObject({ code: 'EISDIR' });
  });
});

describe('DNS', () => {
  const A = ['1.1.1.1', '1.1.1.2', '1.1.1.3'];
  const AAAA = ['2001:db8::1'];

  test('RFC 8305 section 4: addresses of both families alternate', async () => {
    const { servers } = await startDns((_, family) => (family === 'A' ? A : AAAA));
    const resolve = createResolve({ hosts: NONE, servers, patience: 1000 });
    const found = await resolve('a.example');
    expect(found[1]).toBe('2001:db8::1');
    expect(found.toSorted()).toEqual([...A, ...AAAA].toSorted());
  });

  test.each([
    ['A', 'silence', A],
    ['A', 'NXDOMAIN', A],
    ['A', [], A],
    ['AAAA', 'silence', AAAA],
    ['AAAA', [], AAAA],
  ] as const)(
    'if only %s has an answer, and the other family gives %j, the addresses are used',
    async (only, other, expected) => {
      const { servers } = await startDns((_, family) => {
        if (family !== only) return other;
        return family === 'A' ? A : AAAA;
      });
      const resolve = createResolve({ hosts: NONE, servers, patience: 1000 });
      expect((await resolve('a.example')).toSorted()).toEqual(expected);
    },
  );

  test.each([
    ['NXDOMAIN', 'ENOTFOUND'],
    [[], 'ENODATA'],
  ] as const)('a name for which DNS answers %j has no address', async (says, code) => {
    const { servers } = await startDns(() => says);
    const resolve = createResolve({ hosts: NONE, servers, patience: 1000 });
    await expect(resolve('a.example')).rejects.toMatchObject({ code });
  });

  test('RFC 1535: names are absolute', async () => {
    const { servers, asked } = await startDns(() => 'NXDOMAIN');
    const resolve = createResolve({ hosts: NONE, servers, patience: 1000 });
    await expect(resolve('box')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(asked.toSorted()).toEqual(['A box', 'AAAA box']);
  });
});
