/** @needs gsasl */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';
import { answer, credentialsIn, get } from '../digest/answers.fixture.ts';
import { credentials, quoted, token, valueOf } from '../digest/challenges.ts';
import { run } from '../digest/exchange.ts';
import type { Send } from '../digest/exchange.ts';
import type { ScramHash } from './keys.ts';
import { saslprep } from './prepare.ts';
import { scramClient } from './scram-client.ts';
import type { ScramOptions } from './scram-client.ts';

interface Gsasl extends Disposable {
  /**
   * Sends a client message in base64; resolves to the server's message, or to undefined if the server gives
   * up.
   */
  ask(message: string): Promise<string | undefined>;
}

/** Starts GNU SASL as the server of one exchange. Every name has this password. */
function startGsasl(hash: ScramHash, password: string): Gsasl {
  const mechanism = ['--mechanism', `SCRAM-${hash}`, '--password', password];
  const place = ['--service', 'http', '--hostname', 'localhost'];
  const child = spawn('gsasl', ['--server', '--quiet', ...mechanism, ...place], {
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async ask(message) {
      child.stdin.write(`${message}\n`);
      for (;;) {
        const line = await lines.next();
        if (line.done === true) return undefined;
        if (/^[A-Za-z0-9+/]{20,}=*$/.test(line.value)) return line.value;
      }
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}

/** Puts the mechanism's messages into the fields of RFC 7804. */
function overHttp(gsasl: Gsasl, scheme: string): Send {
  const sid = token('sid', 'one');
  return async (request) => {
    if (request.fields.length === 0) return answer(401, [['WWW-Authenticate', scheme]]);
    const { params } = credentialsIn(request);
    const message = await gsasl.ask(valueOf(params, 'data') ?? '');
    if (message === undefined) return answer(401, [['WWW-Authenticate', scheme]]);
    const continued = [sid, quoted('data', message)];
    return valueOf(params, 'sid') === undefined
      ? answer(401, [['WWW-Authenticate', credentials(scheme, continued)]])
      : answer(200, [['Authentication-Info', credentials('', continued).trim()]]);
  };
}

async function authenticate(
  hash: ScramHash,
  serverPassword: string,
  options: Omit<ScramOptions, 'hash'>,
): Promise<number> {
  using gsasl = startGsasl(hash, serverPassword);
  const exchange = scramClient({ ...options, hash }).exchange(get('/'));
  return (await run(exchange, overHttp(gsasl, `SCRAM-${hash}`))).status;
}

const USER = { username: 'user', password: 'pencil' };

test.each(['SHA-1', 'SHA-256'] as const)('RFC 5802: GNU SASL and SCRAM-%s agree', async (hash) => {
  expect(await authenticate(hash, 'pencil', USER)).toBe(200);
  expect(await authenticate(hash, 'pencils', USER)).toBe(401);
  const escaped = { ...USER, username: 'a=b,c' };
  expect(await authenticate(hash, 'pencil', escaped)).toBe(200);
});

test('RFC 5802 section 2.2: GNU SASL prepares a password by SASLprep, not by OpaqueString', async () => {
  const half = { username: 'user', password: '\u00bd \u2168' };
  expect(await authenticate('SHA-256', half.password, { ...half, normalize: saslprep })).toBe(200);
  expect(await authenticate('SHA-256', half.password, half)).toBe(401);
});
