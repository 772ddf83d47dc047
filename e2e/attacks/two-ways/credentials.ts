import { randomUUID } from 'node:crypto';
import { newApiKey } from '#shared/people/api-key.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Flow } from '../../flows/flow.ts';
import { type Dice, pick } from '../dice.ts';
import type { Credentials } from './asked.ts';

/** An owner of credentials. When the owner is revoked, all of its credentials are refused. */
interface Owner {
  /** Revokes in the test's own process: every server must refuse the next request. */
  end(): Promise<unknown>;
  /** Issues new credentials. */
  open(): Promise<readonly Credentials[]>;
}

export interface KnownCredentials {
  /** Valid and revoked credentials. */
  readonly all: readonly Credentials[];
  /** Revokes an owner's credentials, or issues new ones. */
  change(): Promise<void>;
}

/** How many credentials are kept. The oldest are dropped first. */
const MOST = 60;

/** Access tokens of machines and people, passwords and API keys for the generated requests. */
export async function knownCredentials(flow: Flow, roll: Dice): Promise<KnownCredentials> {
  const { pair, stores } = flow;
  let all: Credentials[] = [];
  const open = (...field: [name: string, value: string]): Credentials => ({ field, ended: false });
  const bearer = (value: string) => open('Authorization', `Bearer ${value}`);
  const scope = 'documents:read hidden:read app:read dav:read';
  const audiences = ['documents', 'documents', 'hidden', 'app', 'dav'] as const;
  const audience = () => `${pair.resource}/${pick(roll, audiences)}/`;

  function token(): Owner {
    let jti = '';
    return {
      end: () => stores.revocations.revoke('token', jti, flow.until()),
      async open() {
        jti = randomUUID();
        return [bearer(await flow.forge({ client_id: 'machine', jti, scope, aud: audience() }))];
      },
    };
  }

  function client(id: string): Owner {
    const claims = { client_id: id, scope };
    return {
      end: () => stores.revocations.raise('client', id, flow.until()),
      open: async () => [
        bearer(await flow.forge({ ...claims, aud: audience() })),
        bearer(await flow.forge({ ...claims, aud: audience() })),
      ],
    };
  }

  async function person(name: string): Promise<Owner> {
    const { id, password } = await pair.addPerson(name);
    return {
      end: () => pair.cli('user', 'disable', name),
      async open() {
        await pair.cli('user', 'disable', name, '--undo');
        const sub_gen = await stores.revocations.generation('person', id);
        const claims = { client_id: 'machine', sub: id, sub_gen, scope, aud: audience() };
        return [
          open('Authorization', `Basic ${btoa(`${name}:${password}`)}`),
          bearer(await flow.forge(claims)),
        ];
      },
    };
  }

  function key(realm: string): Owner {
    let known = '';
    return {
      end: () => stores.apiKeys.remove(known),
      async open() {
        const { id, key: shown, secret_hash } = newApiKey(systemRandom);
        known = id;
        const record = { id, application: 'app', realm, scopes: [], secret_hash, created_at: 0 };
        await stores.apiKeys.add(record);
        return [open('X-API-Key', shown)];
      },
    };
  }

  const owners = [
    ...Array.from({ length: 8 }, token),
    client('first'),
    client('second'),
    await person('alice'),
    await person('bob'),
    key('dav'),
    key('identity'),
  ];
  const owned = new Map<Owner, readonly Credentials[]>();
  async function openAll(owner: Owner): Promise<void> {
    const opened = await owner.open();
    owned.set(owner, opened);
    all = [...all, ...opened].slice(-MOST);
  }
  for (const owner of owners) await openAll(owner);

  return {
    get all() {
      return all;
    },
    async change() {
      const owner = owners[roll(owners.length)];
      const before = owner && owned.get(owner);
      if (owner === undefined || before === undefined) throw new RangeError('nobody');
      const ends = before.some(({ ended }) => !ended);
      if (!ends) return openAll(owner);
      await owner.end();
      for (const one of before) one.ended = true;
      all = [...all.filter((one) => !before.includes(one)), ...before];
    },
  };
}
