/** @needs curl openssl */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import http2 from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  CREDENTIALS,
  startOrigin,
  startProxy,
  stopAll,
} from '../../resource-server/proxy/proxy.fixture.ts';
import type { RunningProxy } from '../../resource-server/proxy/proxy.fixture.ts';
import { launchBrowser } from '../parts/browser.ts';
import { freePort } from '../parts/free-port.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';

/** The forward proxy with third-party clients: curl, Chromium, and Node's HTTP/2. */
const run = promisify(execFile);
const running = new AsyncDisposableStack();

let plain: number;
let secure: number;
let elsewhere: number;
let proxy: RunningProxy;
let tlsProxy: RunningProxy;

beforeAll(async () => {
  const folder = running.use(await temporaryFolder()).path;
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const about = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  await run('openssl', ['req', '-x509', ...kind, ...about, '-keyout', keyFile, '-out', certFile]);
  const certificate = { key: await readFile(keyFile), cert: await readFile(certFile) };

  running.defer(stopAll);
  plain = await startOrigin((request, response) => {
    const { method, url, rawHeaders } = request;
    let length = 0;
    request.on('data', (piece: Buffer) => {
      length += piece.length;
    });
    request.on('end', () => response.end(JSON.stringify({ method, url, rawHeaders, length })));
  });
  elsewhere = await startOrigin((_request, response) => response.end('never'));
  secure = await freePort();
  const https = createHttpsServer(certificate, (_request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end('<title>through the tunnel</title>');
  });
  await new Promise<void>((resolve) => {
    https.listen(secure, '127.0.0.1', resolve);
  });
  running.defer(async () => {
    https.close();
    https.closeAllConnections();
  });

  const destinations = ['self', `127.0.0.1:${secure}`];
  const self = [{ address: '127.0.0.1', port: plain }];
  proxy = await startProxy({ destinations, self });
  tlsProxy = await startProxy({ destinations, self, certificate });
});
afterAll(async () => running.disposeAsync());

async function curl(...args: readonly string[]): Promise<string> {
  const common = ['--silent', '--show-error', '--insecure', '--max-time', '20'];
  return (await run('curl', [...common, ...args])).stdout;
}
const status = ['--output', '/dev/null', '--write-out', '%{http_code} %{http_connect}'];
const alice = ['--proxy-user', 'alice:secret'];
const through = ({ port }: RunningProxy) => ['--proxy', `http://127.0.0.1:${port}`];
const throughTls = ({ port }: RunningProxy) => [
  '--proxy',
  `https://127.0.0.1:${port}`,
  '--proxy-insecure',
];

describe('curl', () => {
  test('in absolute-form both credentials work, and the origin gets no proxy credentials', async () => {
    const credentials = ['--proxy-basic', ...alice, '--user', 'bob:hidden'];
    const text = await curl(...through(proxy), ...credentials, `http://localhost:${plain}/a?b=c`);
    const { url, rawHeaders } = JSON.parse(text) as { url: string; rawHeaders: string[] };
    expect(url).toBe('/a?b=c');
    expect(rawHeaders).toContain(`Basic ${Buffer.from('bob:hidden').toString('base64')}`);
    expect(rawHeaders).toContain(`localhost:${plain}`);
    expect(rawHeaders).not.toContain(CREDENTIALS);
    expect(JSON.stringify(proxy.lines)).not.toMatch(/hidden|secret|b=c/);
  });

  test('an upload that waits for 100 arrives whole', async () => {
    const upload = ['--data-binary', `@${process.execPath}`, '--header', 'Expect: 100-continue'];
    const text = await curl(...through(proxy), ...alice, ...upload, `http://localhost:${plain}/`);
    const [, size] = (await run('stat', ['--format', '%n %s', process.execPath])).stdout.split(' ');
    expect(JSON.parse(text)).toMatchObject({ method: 'POST', length: Number(size) });
  });

  test.each(['--proxy-basic', '--proxy-anyauth'])('CONNECT with %s opens a tunnel', async (how) => {
    for (const origin of [`http://localhost:${plain}/`, `https://localhost:${secure}/`]) {
      const args = [...through(proxy), '--proxytunnel', how, ...alice, ...status];
      expect(await curl(...args, origin)).toBe('200 200');
    }
  });

  test('works over TLS to the proxy', async () => {
    const args = [...throughTls(tlsProxy), ...alice, ...status];
    expect(await curl(...args, `http://localhost:${plain}/`)).toBe('200 000');
    expect(await curl(...args, `https://localhost:${secure}/`)).toBe('200 200');
  });

  test('gets 407 without credentials or with wrong credentials', async () => {
    const wrong = ['--proxy-user', 'alice:wrong'];
    for (const more of [[], wrong]) {
      const args = [...through(proxy), ...more, ...status, `http://localhost:${plain}/`];
      expect(await curl(...args)).toBe('407 000');
      await expect(curl('--proxytunnel', ...args)).rejects.toMatchObject({
        stdout: expect.stringContaining('407'),
      });
    }
  });

  test('is refused at every other port of this machine', async () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'localhost.']) {
      for (const port of [elsewhere, proxy.port]) {
        const args = [...through(proxy), ...alice, ...status];
        expect(await curl(...args, `http://${host}:${port}/`)).toBe('403 000');
      }
    }
  });

  test('is refused for a destination that leads to loopback or to cloud metadata', async () => {
    for (const url of [
      'http://169.254.169.254/latest/meta-data/',
      'http://[fd00:ec2::254]/',
      `http://[::ffff:127.0.0.1]:${elsewhere}/`,
    ]) {
      expect(await curl(...through(proxy), ...alice, ...status, url)).toBe('403 000');
    }
  });
});

describe("Node's HTTP/2", () => {
  test.each([
    ['in clear text', () => `http://127.0.0.1:${proxy.port}`],
    ['with TLS', () => `https://127.0.0.1:${tlsProxy.port}`],
  ])('sends a request and a tunnel on one connection, %s', async (_, origin) => {
    const client = http2.connect(origin(), { rejectUnauthorized: false });
    try {
      const credentials = { 'proxy-authorization': CREDENTIALS };
      const base = { ':scheme': 'http', ':authority': `localhost:${plain}`, ':path': '/' };
      expect(await statusOf(client.request({ ...base, ...credentials }))).toBe(200);
      expect(await statusOf(client.request(base))).toBe(407);

      const tunnel = client.request({
        ':method': 'CONNECT',
        ':authority': `localhost:${plain}`,
        ...credentials,
      });
      expect(await statusOf(tunnel)).toBe(200);
      tunnel.end('GET /tunnel HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      let received = '';
      for await (const piece of tunnel) received += String(piece);
      expect(received).toMatch(/^HTTP\/1\.1 200 [^]*"url":"\/tunnel"/);
    } finally {
      client.destroy();
    }
  });
});

function statusOf(stream: http2.ClientHttp2Stream): Promise<number> {
  return new Promise((resolve, reject) => {
    stream.once('error', reject).once('response', (fields) => resolve(Number(fields[':status'])));
  });
}

describe('Chromium', () => {
  test.each([
    ['http', '1.1', () => `http://127.0.0.1:${proxy.port}`],
    ['https', '2.0', () => `https://localhost:${tlsProxy.port}`],
  ])('loads clear text and a tunnel over %s and HTTP/%s', async (_, version, server) => {
    const browser = await launchBrowser({ args: ['--ignore-certificate-errors'] });
    try {
      const context = await browser.newContext({
        ignoreHTTPSErrors: true,
        proxy: {
          server: server(),
          username: 'alice',
          password: 'secret',
          bypass: '<-loopback>',
        },
      });
      const page = await context.newPage();
      await page.goto(`http://localhost:${plain}/page`);
      const shown = await page.textContent('body');
      expect(shown).toContain('"url":"/page"');
      expect(shown).toContain(`${version} countersign-`);
      await page.goto(`https://localhost:${secure}/`);
      expect(await page.title()).toBe('through the tunnel');
    } finally {
      await browser.close();
    }
  });
});
