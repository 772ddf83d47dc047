import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hash } from '@node-rs/argon2';
import { formatAuthExport } from '#shared/auth/schemes/concealed/auth-export.ts';
import {
  exporterFrom,
  fieldOf,
  newKey,
  paramsOf,
  type TestKey,
} from '#shared/auth/schemes/concealed/concealed.fixture.ts';
import { EXPORTED, exporterContext, LABEL } from '#shared/auth/schemes/concealed/signed.ts';
import { endEverything } from '#shared/people/access/everything.ts';
import { somePerson, somePublicKey, someSecondFactor } from '#shared/stores/contract/samples.ts';
import {
  RESOURCE,
  startResourceServer,
  type TestResourceServer,
} from '../resource-server.fixture.ts';

const RIGHT = 'correct horse battery';

/**
 * In one space a second factor is optional, in another people of `staff` need it, and the space `/old/` does not ask
 * for it.
 */
let rs: TestResourceServer;
beforeAll(async () => {
  const space = (name: string, more: object = {}) => ({
    url: `${RESOURCE}/${name}/`,
    realm: name,
    schemes: ['Basic'],
    grants: { everyone: ['read', 'write'] },
    ...more,
  });
  rs = await startResourceServer({
    people: { secondFactor: { required: ['staff'] } },
    spaces: [
      space('drive'),
      space('old', { secondFactor: 'not asked' }),
      space('vault', { schemes: ['Concealed'], concealed: { frontend: true } }),
    ],
  });
  const password_hash = await hash(RIGHT);
  for (const [name, groups] of [
    ['alice', []],
    ['bob', ['staff']],
    ['carol', []],
  ] as const) {
    const person = { ...somePerson(name), id: name, password_hash };
    await rs.stores.people.add({ ...person, profile: { groups } });
  }
  await rs.stores.secondFactors.add(someSecondFactor('carol'));
});
afterAll(() => rs?.[Symbol.asyncDispose]());

const get = async (space: string, name: string, password: string) => {
  const credentials = Buffer.from(`${name}:${password}`).toString('base64');
  const { status, headers, text } = await rs.ask('GET', `/${space}/`, {
    headers: {
      Host: new URL(RESOURCE).host,
      'X-Forwarded-Proto': 'https',
      Authorization: `Basic ${credentials}`,
    },
  });
  const { date: _date, 'x-request-id': id, ...told } = headers;
  return { status, told, text: text.replaceAll(String(id), '') };
};

/**
 * Resolves to the status of a request with a Concealed key, behind a proxy that terminates TLS (RFC 9729 section 6.2).
 */
async function byKey(key: TestKey): Promise<number> {
  const context = exporterContext({
    signatureScheme: key.s,
    keyId: Buffer.from(key.id, 'base64url'),
    publicKey: key.encoded,
    url: RESOURCE,
    realm: undefined,
  });
  const output = exporterFrom('one')(LABEL, context, EXPORTED);
  const headers = {
    Host: new URL(RESOURCE).host,
    'X-Forwarded-Proto': 'https',
    'Concealed-Auth-Export': formatAuthExport(output),
    Authorization: fieldOf(paramsOf({ key, url: RESOURCE })),
  };
  return (await rs.ask('GET', '/vault/', { headers })).status;
}

test('an old Concealed key of a person who needs a second factor is refused', async () => {
  const withPasskey = { acr: 'urn:countersign:acr:passkey' } as const;
  for (const [of, how, status] of [
    ['alice', {}, 200],
    ['bob', {}, 404], // the space is hidden
    ['bob', withPasskey, 200],
  ] as const) {
    const key = newKey();
    const owner = { kind: 'person', id: of } as const;
    const record = { ...somePublicKey(key.id), ...how, owner, spki: key.spki };
    expect(await rs.stores.publicKeys.add(record, 20)).toBe('added');
    expect([of, how, await byKey(key)]).toEqual([of, how, status]);
  }
});

describe('schemes that know only a password', () => {
  test('a scheme with only a password admits people who need no second factor and have none', async () => {
    expect((await get('drive', 'alice', RIGHT)).status).toBe(200);
  });

  test.each(['bob', 'carol'])(
    'a scheme with only a password answers %s like a wrong password and an unknown name',
    async (name) => {
      const linesOf = () => rs.lines.filter((line) => line.includes('second-factor.missing'));
      const before = linesOf().length;
      const refused = await get('drive', name, RIGHT);
      expect(linesOf().slice(before)).toEqual([expect.stringContaining(`"subject":"${name}"`)]);
      expect(refused.status).toBe(401);
      expect(await get('drive', name, 'wrong')).toEqual(refused);
      expect(await get('drive', 'nobody', RIGHT)).toEqual(refused);
      expect(linesOf()).toHaveLength(before + 1);
      expect(refused.text).not.toContain('second');
    },
  );

  test('a scheme with only a password admits every person with the right password, if the space allows it', async () => {
    for (const name of ['alice', 'bob', 'carol']) {
      expect((await get('old', name, RIGHT)).status).toBe(200);
      expect((await get('old', name, 'wrong')).status).toBe(401);
    }
  });

  test('a cached password check is refused once the person has a second factor', async () => {
    const { stores, clock } = rs;
    expect((await get('drive', 'alice', RIGHT)).status).toBe(200);
    await stores.secondFactors.add(someSecondFactor('alice'));
    await endEverything({ stores, clock, longestLife: 600 }, 'alice');
    expect((await get('drive', 'alice', RIGHT)).status).toBe(401);
    expect((await get('old', 'alice', RIGHT)).status).toBe(200);
    await stores.secondFactors.remove('alice');
    expect((await get('drive', 'alice', RIGHT)).status).toBe(200);
  });
});
