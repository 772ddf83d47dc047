import { describe, expect, test } from '@jest/globals';
import { ALONE } from '#shared/base/line.ts';
import { GssRefused } from '../parts/gss.ts';
import { type KerberosModule, nativeGss } from './native-gss.ts';

interface Answer {
  readonly username: string | null;
  readonly targetName: string | null;
  readonly response: string | null;
  readonly contextComplete: boolean;
  /** The error that `step` rejects with. */
  readonly failure?: string;
}

const COMPLETE: Answer = {
  username: 'alice@EXAMPLE.COM',
  targetName: 'HTTP/localhost@EXAMPLE.COM',
  response: Buffer.from('proof').toString('base64'),
  contextComplete: true,
};
const NONE = { username: null, targetName: null, response: null, contextComplete: false };

/** Returns a module that always gives the same answer, and a list of the calls to it. */
function moduleWith(answer: Answer) {
  const asked: string[] = [];
  const kerberos: KerberosModule = {
    async initializeServer(service) {
      asked.push(`server ${service}`);
      return {
        ...answer,
        async step(token) {
          asked.push(token);
          if (answer.failure !== undefined) throw new Error(answer.failure);
        },
      };
    },
  };
  return { kerberos, asked };
}

const step = (answer: Answer, service?: string) =>
  nativeGss(moduleWith(answer).kerberos, service).accept().step(ALONE, Buffer.from('token'));

describe('RFC 2743 section 2.2.2', () => {
  test("a complete handshake names the principal, and proves the server's identity", async () => {
    await expect(step(COMPLETE)).resolves.toEqual({
      done: true,
      principal: 'alice@EXAMPLE.COM',
      token: Buffer.from('proof'),
    });
  });

  test('a client that asks for no proof of the server gets none', async () => {
    const done = await step({ ...COMPLETE, response: null });
    expect(done).toEqual({ done: true, principal: 'alice@EXAMPLE.COM' });
  });

  test('an error with an answer means that the handshake needs another message', async () => {
    const failure = 'A required input parameter could not be read';
    const wanted = await step({ ...NONE, response: COMPLETE.response, failure });
    expect(wanted).toEqual({ done: false, token: Buffer.from('proof') });
  });

  test('an error without an answer refuses the handshake', async () => {
    const refused = step({ ...NONE, failure: 'Request is a replay' });
    await expect(refused).rejects.toThrow(GssRefused);
    await expect(refused).rejects.toThrow('Request is a replay');
  });

  test.each([
    ['it failed', { failure: 'wrong' }],
    ['nobody is named', { username: null }],
    ['no service is named', { targetName: null }],
  ])('a complete handshake is refused if %s', async (_what, wrong) => {
    await expect(step({ ...COMPLETE, ...wrong })).rejects.toThrow(GssRefused);
  });

  test('all messages of a handshake use one context, and each handshake has a context of its own', async () => {
    const { kerberos, asked } = moduleWith(COMPLETE);
    const gss = nativeGss(kerberos);
    const first = gss.accept();
    await first.step(ALONE, Buffer.from('a'));
    await first.step(ALONE, Buffer.from('b'));
    await gss.accept().step(ALONE, Buffer.from('c'));
    expect(asked).toEqual(['server ', 'YQ==', 'Yg==', 'server ', 'Yw==']);
  });

  test('if the module cannot make a context, the handshake is refused', async () => {
    const kerberos = { initializeServer: () => Promise.reject(new Error('no memory')) };
    await expect(nativeGss(kerberos).accept().step(ALONE, Buffer.of(1))).rejects.toThrow(
      GssRefused,
    );
  });
});

describe('the service of the ticket (RFC 4559 section 4.1)', () => {
  test.each([
    ['HTTP/localhost@EXAMPLE.COM', undefined],
    ['HTTP/other.example@EXAMPLE.COM', undefined],
    ['HTTP/localhost@EXAMPLE.COM', 'HTTP@localhost'],
  ])('a ticket for %s is accepted if the configured service is %s', async (targetName, service) => {
    await expect(step({ ...COMPLETE, targetName }, service)).resolves.toMatchObject({ done: true });
  });

  test.each([
    ['host/localhost@EXAMPLE.COM', undefined],
    ['HTTPS/localhost@EXAMPLE.COM', undefined],
    ['HTTP/localhost.evil.example@EXAMPLE.COM', 'HTTP@localhost'],
    ['HTTP/other.example@EXAMPLE.COM', 'HTTP@localhost'],
    ['host/localhost@EXAMPLE.COM', 'HTTP@localhost'],
  ])('a ticket for %s is refused if the configured service is %s', async (targetName, service) => {
    await expect(step({ ...COMPLETE, targetName }, service)).rejects.toThrow(targetName);
  });
});

test('at most two calls run at a time, so that files and passwords keep their threads', async () => {
  let [running, most] = [0, 0];
  const { promise: open, resolve } = Promise.withResolvers<void>();
  const kerberos: KerberosModule = {
    async initializeServer() {
      return {
        ...COMPLETE,
        async step() {
          running += 1;
          most = Math.max(most, running);
          await open;
          running -= 1;
        },
      };
    },
  };
  const gss = nativeGss(kerberos);
  const all = Array.from({ length: 10 }, () => gss.accept().step(ALONE, Buffer.of(1)));
  resolve();
  await Promise.all(all);
  expect(most).toBe(2);
});
