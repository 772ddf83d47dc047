/** @needs oidc-agent */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { startPair } from '../../pair/pair.ts';
import type { Pair, Person } from '../../pair/pair.ts';
import { startProcess } from '../../parts/process.ts';
import type { RunningProcess } from '../../parts/process.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';
import { addPeopleClient, DEVICE_FLOW, SCOPE } from '../../pair/people-client.ts';
import { PersonAtPages } from './person-at-pages.ts';
import { WAYS } from './ways-in.ts';

/** Debian's oidc-agent: device flow (RFC 8628) in a terminal, and an agent that refreshes tokens. */
const run = promisify(execFile);

let pair: Pair;
/** oidc-agent always authenticates by Basic, so this client has a secret. */
let client: { id: string; secret: string };
let parts: AsyncDisposableStack;
/** The environment in which oidc-agent's programs find the agent. */
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  parts = new AsyncDisposableStack();
  pair = parts.use(
    await startPair({ issuerHost: 'localhost', settings: { device: { interval: 1 } } }),
  );
  client = await addPeopleClient(pair, ...DEVICE_FLOW);
  const { path } = parts.use(await temporaryFolder());
  await mkdir(join(path, '.oidc-agent'), { mode: 0o700 });
  await chmod(path, 0o700);
  const socket = join(path, 'agent');
  env = { PATH: process.env['PATH'], HOME: path, OIDC_SOCK: socket };
  const args = ['--console', '--no-autoload', '--no-autoreauthenticate'];
  parts.use(
    await startProcess('oidc-agent', [...args, `--socket-path=${socket}`], {
      env,
      ready: () => existsSync(socket),
    }),
  );
});
afterAll(() => parts.disposeAsync());

const newPerson = () => pair.addPerson(`person-${randomUUID()}`);

const at = (person: Person) => new PersonAtPages(pair, person);

/** Starts a device flow; resolves when the terminal shows the code and the link. */
const generate = (account: string): Promise<RunningProcess> =>
  startProcess(
    'oidc-gen',
    [
      account,
      '--flow=device',
      `--issuer=${pair.issuer}/`,
      `--client-id=${client.id}`,
      `--client-secret=${client.secret}`,
      `--scope=${SCOPE}`,
      '--prompt=none',
      '--confirm-default',
      '--no-url-call',
      '--pw-cmd=echo password',
    ],
    { env, ready: (output) => /enter the code: \S+/.test(output) },
  );

/** The person enters the code from the terminal; resolves when the program has ended. */
async function enter(
  browser: PersonAtPages,
  terminal: RunningProcess,
  decision?: 'deny',
): Promise<void> {
  const [, url = ''] = /visit:\s+(\S+)/.exec(terminal.output) ?? [];
  const [, code = ''] = /enter the code: (\S+)/.exec(terminal.output) ?? [];
  await browser.open(`${url}?user_code=${code}`, decision);
  await terminal.exited();
}

/** An access token of the agent. `--force-new` makes the agent refresh. */
const token = async (account: string, ...args: readonly string[]) =>
  (await run('oidc-token', [...args, account], { env })).stdout.trim();

describe('oidc-agent', () => {
  test('RFC 8628: gets tokens for the documents, and refreshes them (RFC 6749 section 6)', async () => {
    await using terminal = await generate('allowed');
    await enter(at(await newPerson()), terminal);
    expect(terminal.output).toContain('Everything setup correctly!');
    expect(terminal.exitCode).toBe(0);
    const first = await token('allowed');
    const second = await token('allowed', '--force-new');
    const third = await token('allowed', '--force-new');
    expect(new Set([first, second, third]).size).toBe(3);
    expect(await Promise.all([first, second, third].map((one) => pair.get(one)))).toEqual([
      200, 200, 200,
    ]);
  });

  test('after the operator revokes the grant, its tokens are refused, and it gets no new ones', async () => {
    const person = await newPerson();
    await using terminal = await generate('ended');
    await enter(at(person), terminal);
    const held = await token('ended');
    expect(await pair.get(held)).toBe(200);
    await pair.cli('user', 'end', person.name);
    expect(await pair.get(held)).toBe(401);
    await expect(token('ended', '--force-new')).rejects.toThrow('invalid_grant');
  });

  test.each(Object.entries(WAYS))(
    'RFC 8176 section 2: access tokens have acr and amr of a %s',
    async (name, way) => {
      await using terminal = await generate(name);
      await enter(await way.person(pair, await newPerson()), terminal);
      expect(decodeJwt(await token(name))).toMatchObject({
        acr: `urn:countersign:acr:${name}`,
        amr: way.amr,
      });
    },
  );

  test('RFC 8628 section 3.5: reports that the person denied', async () => {
    await using terminal = await generate('denied');
    await enter(at(await newPerson()), terminal, 'deny');
    expect(terminal.output).toContain('access_denied');
    expect(terminal.exitCode).not.toBe(0);
    await expect(token('denied')).rejects.toThrow('denied');
  });
});
