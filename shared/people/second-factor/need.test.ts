import { describe, expect, test } from '@jest/globals';
import { ALONE } from '#shared/base/line.ts';
import { someSecondFactor } from '#shared/stores/contract/samples.ts';
import type { Authenticated, Person } from '../directory.ts';
import { isEnough, isPasswordEnough, mustHaveSecondFactor, type SecondFactorRule } from './need.ts';
import { passwordAlone } from './password-alone.ts';

const STAFF = ['staff', 'chess'];
const IN_STAFF = { id: 'alice', name: 'alice', profile: { groups: STAFF } };
const IN_NONE = { id: 'bob', name: 'bob' };
const CAROL = { id: 'carol', name: 'carol' };
const OF_STAFF = { required: ['admins', 'staff'] };

test('the rule requires a second factor of all people, of none, or of a group', () => {
  for (const groups of [STAFF, [], undefined]) {
    expect(mustHaveSecondFactor('required', groups)).toBe(true);
    expect(mustHaveSecondFactor('optional', groups)).toBe(false);
    expect(mustHaveSecondFactor('off', groups)).toBe(false);
    expect(mustHaveSecondFactor({ required: [] }, groups)).toBe(false);
  }
  expect(mustHaveSecondFactor(OF_STAFF, STAFF)).toBe(true);
  expect(mustHaveSecondFactor(OF_STAFF, undefined)).toBe(false);
  expect(mustHaveSecondFactor({ required: ['Staff'] }, STAFF)).toBe(false);
});

test('if a second factor is required, a passkey is enough, but neither a password nor an unknown kind of sign-in', () => {
  for (const acr of ['urn:countersign:acr:second-factor', 'urn:countersign:acr:passkey']) {
    expect(isEnough(OF_STAFF, STAFF, acr)).toBe(true);
  }
  for (const acr of ['urn:countersign:acr:password', 'urn:other', '', undefined]) {
    expect(isEnough(OF_STAFF, STAFF, acr)).toBe(false);
    expect(isEnough(OF_STAFF, [], acr)).toBe(true);
  }
});

describe('a password alone', () => {
  const secondFactors = {
    get: async (id: string) => (id === 'carol' ? someSecondFactor(id) : undefined),
  };
  const enough = (...[rule, person]: [SecondFactorRule, Person?]) =>
    isPasswordEnough(rule, secondFactors, person);

  test('a password alone is not enough for a person who needs a second factor or has set one up', async () => {
    expect(await enough('optional', IN_NONE)).toBe(true);
    expect(await enough('optional', CAROL)).toBe(false);
    expect(await enough('required', IN_NONE)).toBe(false);
    expect(await enough(OF_STAFF, IN_STAFF)).toBe(false);
    expect(await enough(OF_STAFF, IN_NONE)).toBe(true);
    expect(await enough('off', CAROL)).toBe(true);
    expect(await enough('optional')).toBe(false);
    expect(await enough('off')).toBe(false);
  });

  test('schemes get the same answer as for a wrong password, after as many reads', async () => {
    const looks: string[] = [];
    const lines: unknown[] = [];
    const people = new Map(['alice', 'carol'].map((id) => [id, { id, name: id, generation: 0 }]));
    const known = async (name: string): Promise<Authenticated | undefined> => people.get(name);
    const asked = passwordAlone(
      {
        directory: { find: known, authenticate: known },
        verifiers: {
          async find(_kind, _realm, who) {
            const person = await known('name' in who ? who.name : '');
            return person && { person, value: 'x' };
          },
          kerberos: known,
        },
      },
      'optional',
      { get: async (id) => (looks.push(id), secondFactors.get(id)) },
      { info: (event, fields) => void lines.push([event, fields?.subject]) },
    );
    const answers = async (name: string) => [
      await asked.directory.authenticate(name, 'right', ALONE),
      await asked.verifiers.find('proof', 'realm', { name }),
      await asked.verifiers.kerberos(name),
    ];
    expect(await answers('alice')).not.toContain(undefined);
    const [alice] = [looks.splice(0).length];
    expect(await answers('carol')).toEqual([undefined, undefined, undefined]);
    const carol = looks.splice(0).length;
    expect(await answers('nobody')).toEqual([undefined, undefined, undefined]);
    expect([alice, carol, looks.length]).toEqual([3, 3, 3]);
    expect(lines).toEqual(Array.from({ length: 3 }, () => ['second-factor.missing', 'carol']));
    expect(await asked.directory.find('carol')).toBeDefined();
  });
});
