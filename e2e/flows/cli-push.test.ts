import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '#shared/stores/contract/eventually.ts';
import type { Person } from '../pair/pair.ts';
import { DEVICE_FLOW } from '../pair/people-client.ts';
import { entryFile } from '../parts/entry.ts';
import { type RunningProcess, startProcess } from '../parts/process.ts';
import { CliUser } from './cli-user.ts';
import { newPerson } from './person.ts';
import { APPLICATION, type PushPlace, requestOf, startPush } from './push-place.ts';

const CLI = entryFile('shared/cli/main.ts');

describe('`push` at the push service of the pair (RFC 8030)', () => {
  let place: PushPlace;
  let client: string;
  const parts = new AsyncDisposableStack();
  beforeAll(async () => {
    place = parts.use(await startPush('sqlite', { settings: { device: { interval: 1 } } }));
    const asked = ['--public', '--name', 'Line', '--scope', 'openid profile push', ...DEVICE_FLOW];
    client = String((await place.flow.pair.cli('client', 'add', ...asked))['client_id']);
  });
  afterAll(async () => parts.disposeAsync());

  /** Runs the command as a process of a new person, who logs in for it. */
  async function push(...options: readonly string[]) {
    const { flow, origin } = place;
    const person = await newPerson(flow);
    const user = parts.use(await CliUser.start(flow, person));
    const url = `${origin}/push/`;
    await user.approve(['login', '--client', client, '--scope', 'push', '--resource', url]);
    const env = {
      ...flow.pair.env,
      HOME: join(user.file('login.json'), '../../..'),
      NODE_EXTRA_CA_CERTS: join(flow.pair.data, 'tls/certificate.pem'),
    };
    const running = parts.use(
      await startProcess(process.execPath, [CLI, 'push', url, ...options], {
        env,
        ready: (output) => output.includes('Waiting for messages'),
      }),
    );
    return { running, person, subscription: subscriptionIn(running) };
  }

  const send = async (subscription: Parameters<typeof requestOf>[0], text: string) =>
    (await place.send(requestOf(subscription, text))).status;

  test('shows messages of web-push, resumes after a restart, and ends with SIGINT', async () => {
    const { running, subscription } = await push('--key', APPLICATION.publicKey);
    const [server] = place.flow.pair.resources;
    for (const text of ['first', 'second']) {
      expect(await send(subscription, text)).toBe(201);
      await eventually(() => expect(linesOf(running)).toContain(text));
    }
    await server?.kill();
    await server?.start();
    expect(await send(subscription, 'third')).toBe(201);
    await eventually(() => expect(linesOf(running)).toContain('third'));
    // Acknowledged messages did not come again.
    expect(linesOf(running).filter((line) => /^(?:first|second|third)$/.test(line))).toEqual([
      'first',
      'second',
      'third',
    ]);
    expect(running.output).toMatch(/(?:no answer|ended the connection).*: again in 1 s/);

    // Ctrl-C sends SIGINT from the terminal, and npm or the launcher sends it again.
    running.signal('SIGINT');
    await running.kill('SIGINT');
    expect(running.exitCode).toBe(0);
    expect(await send(subscription, 'late')).toBe(404);
  });

  test('with --count ends after that number of messages, with exit code 0', async () => {
    const { running, subscription } = await push('--count', '1', '--json');
    expect(await send(subscription, 'only')).toBe(201);
    await running.exited();
    expect([running.exitCode, linesOf(running).at(-1)]).toEqual([
      0,
      expect.stringContaining('{"text":"only"'),
    ]);
    expect(await send(subscription, 'late')).toBe(404);
  });

  test('ends with exit code 1 if the operator revokes its login', async () => {
    const { running, person } = await push();
    await endOf(person);
    await running.exited();
    expect([running.exitCode, running.output]).toEqual([
      1,
      expect.stringContaining('the subscription has ended'),
    ]);
  });

  test('deletes the subscription if no process reads its output', async () => {
    const { running, subscription } = await push();
    running.hangUp();
    expect(await send(subscription, 'unread')).toBe(201);
    await running.exited();
    expect(await send(subscription, 'late')).toBe(404);
  });

  const endOf = (person: Person) => place.flow.pair.cli('user', 'end', person.name);
});

const linesOf = ({ output }: RunningProcess): readonly string[] => output.trim().split('\n');

const subscriptionIn = (running: RunningProcess) =>
  JSON.parse(linesOf(running).find((line) => line.startsWith('{')) ?? '') as Parameters<
    typeof requestOf
  >[0];
