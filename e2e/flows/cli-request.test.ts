import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { runCommand } from '../pair/command-line.ts';
import { CliUser } from './cli-user.ts';
import { type Client, type Flow, startFlowOn } from './flow.ts';

const SPACES = { bearer: ['Bearer'], dpop: ['DPoP'], both: ['Bearer', 'DPoP'] } as const;
const NAMES = ['bearer', 'dpop', 'both'] as const;

describe('`request` follows the metadata of a space (RFC 9728)', () => {
  let flow: Flow;
  let client: Client;
  const urlOf = (name: keyof typeof SPACES) => `${flow.pair.resource}/${name}/`;
  beforeAll(async () => {
    flow = await startFlowOn('sqlite', {
      settings: ({ resource }) => ({
        spaces: NAMES.map((name) => ({
          url: `${resource}/${name}/`,
          realm: name,
          schemes: SPACES[name],
          scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
          serves: 'identity',
        })),
      }),
    });
    client = await flow.pair.addClient();
  });
  afterAll(async () => flow?.[Symbol.asyncDispose]());

  const request = async (url: string, ...more: readonly string[]) => {
    const args = ['request', 'GET', url, '--client', client.id, '--secret', client.secret, ...more];
    const { code, stdout, stderr } = await runCommand(args, flow.pair.env);
    return { code, said: stdout + stderr };
  };

  test.each<[keyof typeof SPACES, string]>([
    ['bearer', 'Bearer'],
    ['dpop', 'DPoP'],
    ['both', 'DPoP'],
  ])('a client at a space with %s is admitted by %s', async (name, scheme) => {
    const { code, said } = await request(urlOf(name));
    expect([code, said]).toEqual([0, expect.stringContaining(`"scheme":"${scheme}"`)]);
  });

  test('a client without the required scopes gets an explanation', async () => {
    const { code, said } = await request(urlOf('bearer'), '--scope', 'documents:none');
    expect([code, said]).toEqual([1, expect.stringContaining('invalid_scope')]);
  });

  test("a person's bound token is admitted where the space accepts DPoP, and nowhere else", async () => {
    const person = await flow.pair.addPerson();
    await using user = await CliUser.start(flow, person);
    await user.approve(['login', '--scope', 'documents:read', '--resource', urlOf('both')]);
    expect(await user.run('request', 'GET', urlOf('both'))).toMatchObject({ code: 0 });
    await user.approve(['login', '--scope', 'documents:read', '--resource', urlOf('bearer')]);
    expect(decodeJwt((await tokenOf(user)) ?? '')).toMatchObject({
      aud: urlOf('bearer'),
      cnf: { jkt: expect.any(String) },
    });
    const { code, said } = await user.run('request', 'GET', urlOf('bearer'));
    expect([code, said]).toEqual([1, expect.stringContaining('name a --client')]);
  });

  async function tokenOf(user: CliUser): Promise<string | undefined> {
    const kept = (await user.kept('login.json')) as { readonly access_token?: string };
    return kept.access_token;
  }
});
