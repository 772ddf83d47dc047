import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Person } from '../pair/pair.ts';
import { runProcess } from './cli-user.ts';
import { startFlowOn, STORE_KINDS } from './flow.ts';
import type { Flow } from './flow.ts';

/** Commands remove people and change secrets of clients while two authorization and two resource servers run. */
describe.each(STORE_KINDS)('on %s', (kind) => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlowOn(kind, { authz: 2, resource: 2 });
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  /** Returns the statuses of both resource servers for a person's own document, with name and password. */
  function own({ name, password }: Person, init: RequestInit = {}): Promise<number[]> {
    const authorization = `Basic ${btoa(`${name}:${password}`)}`;
    return Promise.all(
      flow.pair.resources.map(async ({ url }) => {
        const request = { ...init, headers: { authorization } };
        const response = await fetch(`${url}/dav-basic/note.txt`, request);
        await response.arrayBuffer();
        return response.status;
      }),
    );
  }

  const tenTimes = (...args: readonly string[]) =>
    Promise.all(Array.from({ length: 10 }, () => runProcess([...args, '--json'], flow.pair.env)));

  test('a removed person is refused everywhere from the next request on, and a new person of that name finds no old data', async () => {
    const { pair } = flow;
    const person = await pair.addPerson(`person-${randomUUID()}`);
    await own(person, { method: 'PUT', body: 'mine' });
    expect(await own(person)).toEqual([200, 200]);
    const token = await flow.forge({ sub: person.id, client_id: 'x', sub_gen: 0, grant_id: 'g' });
    const read = () => Promise.all([pair.get(token), pair.get(token, 1)]);
    expect(await read()).toEqual([200, 200]);

    const removed = await pair.cli('user', 'remove', person.name, '--trees');
    expect(removed).toMatchObject({ id: person.id, trees: 1 });
    expect([await own(person), await read()]).toEqual([
      [401, 401],
      [401, 401],
    ]);
    await expect(pair.addPerson(person.name)).rejects.toThrow('--reuse-name');
    const args = ['user', 'add', person.name, '--reuse-name'];
    const heir = await pair.cli(...args);
    expect(await own({ ...person, password: String(heir['password']) })).toEqual([404, 404]);
    expect([await own(person), await read()]).toEqual([
      [401, 401],
      [401, 401],
    ]);
  });

  test('ten removals at once: one succeeds, nine find no person', async () => {
    const person = await flow.pair.addPerson(`person-${randomUUID()}`);
    const ended = await tenTimes('user', 'remove', person.name);
    expect(ended.filter(({ code }) => code === 0)).toHaveLength(1);
    for (const { code, stderr } of ended) {
      if (code === 0) continue;
      const values = { name: person.name };
      expect(JSON.parse(stderr)).toMatchObject({ code: 'no-person', values });
    }
    expect(await own(person)).toEqual([401, 401]);
  });

  test('ten rotations of a secret at once: the last two callers have secrets that work', async () => {
    const { pair } = flow;
    const client = await pair.addClient('documents:read');
    const form = { grant_type: 'client_credentials' };
    const good = async (secret: string) => {
      const asked = [0, 1].map((server) =>
        pair.post('/token', form, { ...client, secret }, server),
      );
      const [one, other] = (await Promise.all(asked)).map(({ status }) => status);
      expect(other).toBe(one);
      return one === 200;
    };
    const ended = await tenTimes('client', 'secret', client.id);
    const told = ended
      .filter(({ code }) => code === 0)
      .map(({ stdout }) => String(JSON.parse(stdout).client_secret));
    const secrets = [client.secret, ...told];
    const lives = await Promise.all(secrets.map(good));
    expect(lives.filter(Boolean)).toHaveLength(2);
    expect(lives[0]).toBe(told.length === 1);

    const { client_secret } = await pair.cli('client', 'secret', client.id, '--overlap', '0');
    expect(await good(String(client_secret))).toBe(true);
    for (const secret of secrets) expect(await good(secret)).toBe(false);
  });
});
