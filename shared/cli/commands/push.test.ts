import { createECDH } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { CLI } from '#shared/base/invocation.ts';
import { inProcess, TestShell } from '../cli.fixture.ts';
import { lockPrivate } from '../files/private-file.ts';
import { listen } from '../listen.fixture.ts';
import { LOGIN } from '../oauth/login.fixture.ts';
import { loginPath, writeLogin } from '../oauth/login-file.ts';
import {
  type Behaviour,
  encrypted,
  events,
  GONE,
  linesOf,
  pushService,
  SUBSCRIBED,
  SUBSCRIPTION,
} from '../push/service.fixture.ts';

class PushShell extends TestShell {
  readonly controller = new AbortController();
  readonly ending = () => this.controller.signal;
}

let shell: PushShell;
beforeEach(async () => {
  shell = new PushShell({ HOME: await temporaryFolder() });
});

/** Logs in for a push service. */
async function logIn(origin: string, resource = `${origin}/push/`): Promise<void> {
  const path = loginPath(shell.env) ?? '';
  const login = { ...LOGIN, resource };
  await lockPrivate(path, shell, () => writeLogin(path, login, shell.random));
}

async function start(behaviour: Behaviour) {
  const service = await pushService(behaviour);
  await logIn(service.origin);
  return {
    ...service,
    push: (...more: readonly string[]) =>
      inProcess(shell, 'push', `${service.origin}/push/`, ...more),
  };
}

/** The subscription, as the command prints it for an application server. */
const given = () => JSON.parse(shell.stdout.split('\n')[0] ?? '') as unknown;

/** An event with a message encrypted by web-push. */
const told = (origin: string, id: string, content: string | Buffer) => ({
  url: `${origin}/push/message/${id}`,
  ...encrypted(given(), content),
});

const [HOSTILE, SHOWN] = ['\u001b[2J\nforged \u202e', String.raw`\u001b[2J\u000aforged \u202e`];

describe('push', () => {
  test('prints the subscription and each message, and deletes both', async () => {
    const service = await start({
      waits: [
        (origin) => events(told(origin, 'a', 'first'), told(origin, 'b', 'second')),
        (origin) => events(told(origin, 'c', 'third')),
      ],
    });
    const { code, stdout, stderr } = await service.push('--count', '3');
    const [subscription = '', ...texts] = stdout.split('\n');
    expect([code, texts]).toEqual([0, ['first', 'second', 'third', '']]);
    expect(JSON.parse(subscription)).toEqual({
      endpoint: `${service.origin}/push/push/P`,
      keys: {
        p256dh: expect.stringMatching(/^[\w-]{87}$/),
        auth: expect.stringMatching(/^[\w-]{22}$/),
      },
    });
    expect(linesOf(service, 'DELETE')).toEqual([
      'DELETE /push/message/a',
      'DELETE /push/message/b',
      'DELETE /push/message/c',
      `DELETE ${SUBSCRIPTION}`,
    ]);
    expect(stderr).toContain('again in 1 s');
    const [without, asked] = service.received.filter(({ method }) => method === 'POST');
    expect([without?.authorization, asked?.headers['dpop']]).toEqual([
      undefined,
      expect.any(String),
    ]);
    const later = service.received.filter(({ method }) => method !== 'POST');
    expect(later.map(({ authorization }) => authorization)).not.toContainEqual(expect.any(String));
  });

  test('--json prints each line as an object', async () => {
    const service = await start({
      waits: [
        (origin) =>
          events(
            { ...told(origin, 'a', HOSTILE), type: 'text/plain' },
            told(origin, 'b', Buffer.of(0xff, 0)),
            { url: `${origin}/push/message/c`, body: Buffer.from('plain').toString('base64url') },
          ),
      ],
    });
    const { code, stdout } = await service.push('--count', '3', '--json');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^(?:\{[ -~]*\}\n){4}$/)]);
    const objects = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(objects.slice(1)).toEqual([
      { text: HOSTILE, type: 'text/plain', encrypted: true },
      { base64url: '_wA', encrypted: true },
      { text: 'plain', encrypted: false },
    ]);
  });

  test('prints a message as one line without control characters, and an empty line without content', async () => {
    const service = await start({
      waits: [
        (origin) =>
          events(told(origin, 'a', HOSTILE), { url: `${origin}/push/message/b`, body: '' }),
      ],
    });
    const { stdout } = await service.push('--count', '2');
    expect(stdout.split('\n').slice(1)).toEqual([SHOWN, '', '']);
  });

  test('reports and deletes a message that cannot be decrypted, and does not count it', async () => {
    const other = createECDH('prime256v1').generateKeys('base64url');
    const service = await start({
      waits: [
        (origin) => {
          const keys = { p256dh: other, auth: 'A'.repeat(22) };
          const foreign = encrypted({ endpoint: origin, keys }, 'foreign');
          return events(
            { url: `${origin}/push/message/a`, ...foreign },
            { ...told(origin, 'b', 'old'), coding: 'aesgcm' },
            told(origin, 'c', 'ours'),
          );
        },
      ],
    });
    const { code, stdout, stderr } = await service.push('--count', '1');
    expect([code, stdout.split('\n').slice(1)]).toEqual([0, ['ours', '']]);
    expect(stderr.match(/cannot be decrypted/g)).toHaveLength(2);
    expect(linesOf(service, 'DELETE')).toHaveLength(4);
  });

  test('shows a message once, even if it comes again because it could not be deleted', async () => {
    const service = await start({
      waits: [
        (origin) => events(told(origin, 'a', 'once')),
        (origin) => events(told(origin, 'a', 'once'), told(origin, 'b', 'other')),
      ],
      deletions: [503, 204],
    });
    const { stdout, stderr } = await service.push('--count', '2');
    expect(stdout.split('\n').slice(1)).toEqual(['once', 'other', '']);
    expect(stderr).toContain('not acknowledged yet');
    expect(linesOf(service, 'DELETE')).toEqual([
      'DELETE /push/message/a',
      'DELETE /push/message/a',
      'DELETE /push/message/b',
      `DELETE ${SUBSCRIPTION}`,
    ]);
  });

  test('on SIGINT deletes the subscription and exits with 0', async () => {
    const service = await start({
      waits: [
        () => {
          shell.controller.abort();
          return undefined;
        },
      ],
    });
    expect(await service.push()).toMatchObject({
      code: 0,
      stderr: 'Waiting for messages. Ctrl-C ends the subscription.\n',
    });
    expect(linesOf(service, 'DELETE')).toEqual([`DELETE ${SUBSCRIPTION}`]);
  });

  test('if the subscription cannot be deleted, says how it ends', async () => {
    const service = await start({
      waits: [(origin) => events(told(origin, 'a', 'text'))],
      deletions: [204, 503],
    });
    const { stderr } = await service.push('--count', '1');
    expect(stderr).toContain(`answers 503. It ends with the login: ${CLI} logout`);
  });

  test('exits with 1 when the subscription has ended', async () => {
    const service = await start({ waits: [() => GONE] });
    expect(await service.push()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the subscription has ended'),
    });
  });

  test('sends --key and --urgency to the push service', async () => {
    const key = createECDH('prime256v1').generateKeys('base64url');
    const service = await start({});
    await service.push('--key', key, '--urgency', 'high');
    const asked = service.received.findLast(({ method }) => method === 'POST');
    expect(asked?.headers['content-type']).toBe('application/webpush-options+json');
    expect(JSON.parse(asked?.body ?? '')).toEqual({ vapid: key });
    const wait = service.received.find(({ line }) => line === `GET ${SUBSCRIPTION}`);
    expect(wait?.headers['urgency']).toBe('high');
  });

  test('accepts the URL without its final slash', async () => {
    const service = await start({});
    expect(await inProcess(shell, 'push', `${service.origin}/push`)).toMatchObject({
      stderr: expect.stringContaining('has ended'),
    });
  });

  test.each([
    ['the Location is missing', { ...SUBSCRIBED, fields: { link: SUBSCRIBED.fields?.['link'] } }],
    ['the Link is missing', { ...SUBSCRIBED, fields: { location: SUBSCRIPTION } }],
    [
      'the Location is at another origin',
      { ...SUBSCRIBED, fields: { ...SUBSCRIBED.fields, location: 'https://other.example/S' } },
    ],
    [
      'the Link is to another origin',
      {
        ...SUBSCRIBED,
        fields: {
          ...SUBSCRIBED.fields,
          link: '<https://other.example/P>; rel="urn:ietf:params:push"',
        },
      },
    ],
  ])('makes no subscription: %s', async (_, answer) => {
    const fields = Object.fromEntries(
      Object.entries(answer.fields).flatMap(([name, value]) => (value ? [[name, value]] : [])),
    );
    const service = await start({ subscribed: () => ({ ...answer, fields }) });
    const { code, stdout, stderr } = await service.push();
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('names no subscription at');
  });

  test.each([[401], [403]])('if the token gets %i, says how to log in', async (status) => {
    const detail = 'The token lacks a scope.\u001b[2J';
    const fields = { 'www-authenticate': 'Bearer error="insufficient_scope"' };
    const service = await start({ subscribed: () => ({ status, fields, body: { detail } }) });
    const { code, stderr } = await service.push();
    expect(code).toBe(1);
    const url = `${service.origin}/push/`;
    expect(stderr).toBe(
      `${url}subscribe answers ${status}: The token lacks a scope.${String.raw`\u001b[2J`}\n` +
        `Run ${CLI} login --scope push --resource ${url}\n`,
    );
  });

  test('after a 403 without a challenge, does not advise another login', async () => {
    const detail = 'Use https.';
    const service = await start({ subscribed: () => ({ status: 403, body: { detail } }) });
    const { code, stderr } = await service.push();
    expect([code, stderr]).toEqual([
      1,
      `${service.origin}/push/subscribe answers 403: Use https.\n`,
    ]);
  });

  test("after a 429 prints the push service's message", async () => {
    const detail = 'A person has 50 subscriptions at most.';
    const service = await start({ subscribed: () => ({ status: 429, body: { detail } }) });
    const { stderr } = await service.push();
    expect(stderr).toBe(`${service.origin}/push/subscribe answers 429: ${detail}\n`);
  });

  test.each(['nobody', 'another resource'])(
    'with a login of %s, says how to log in',
    async (whose) => {
      const { origin } = await pushService();
      if (whose !== 'nobody') await logIn(origin, `${origin}/documents/`);
      expect(await inProcess(shell, 'push', `${origin}/push/`)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`Run ${CLI} login --scope push --resource ${origin}/push/`),
      });
    },
  );

  test.each([
    [['http://push.example/'], 'URL must be https'],
    [['https://push.example/?a'], 'URL must be https'],
    [['https://push.example/', '--key', 'AAAA'], '--key must be base64url'],
    [['https://push.example/', '--urgency', 'urgent'], '--urgency must be one of very-low'],
    [['https://push.example/', '--count', '0'], '--count must be a whole number'],
    [[], 'URL is missing'],
  ])('%j is refused before any request', async (args, message) => {
    expect(await inProcess(shell, 'push', ...args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
  });

  test('says that a server is no push service', async () => {
    const { origin } = await listen(() => ({ status: 404 }));
    expect(await inProcess(shell, 'push', origin)).toMatchObject({
      code: 1,
      stderr: `${origin}/subscribe answers 404\n`,
    });
  });
});
