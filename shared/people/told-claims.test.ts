import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { CLAIMS_OF_SCOPES } from './claims.ts';
import { ruledClaims, toldClaims } from './told-claims.ts';

const ALICE = {
  id: 'alice-id',
  name: 'alice',
  profile: {
    display_name: 'Alice Liddell',
    emails: [
      { address: 'alice@example.com', verified: true },
      { address: 'second@example.com', verified: false },
    ],
    groups: ['staff', 'Chess club'],
    attributes: [
      { name: 'department', value: 'research' },
      { name: 'level', value: '3' },
    ],
  },
};
const BOB = { id: 'bob-id', name: 'bob' };
const told = (...rules: string[]) => ruledClaims(rules, ALICE);

describe('the first rule that matches counts', () => {
  test.each([
    [['role="admin" if group "admins"', 'role="user"'], { role: 'user' }],
    [['role="admin" if group "staff"', 'role="user"'], { role: 'admin' }],
    [['role="user"', 'role="admin" if group "staff"'], { role: 'user' }],
    [['role="admin" if group "Staff"'], {}],
    [['role="player" if group "Chess club"'], { role: 'player' }],
    [['role="owner" if person "alice"', 'role="user"'], { role: 'owner' }],
    [['role="x" if attribute level is "3"'], { role: 'x' }],
    [['role="x" if attribute level is "33"', 'role=false'], { role: false }],
    [['a="1"', 'b="2"'], { a: '1', b: '2' }],
  ])('%j tell %j', (rules, claims) => {
    expect(told(...rules)).toEqual(claims);
  });

  test('a rule without anything to tell does not count', () => {
    const rules = ['login=email', 'login=attribute nickname', 'login=username'];
    expect(told(...rules)).toEqual({ login: 'alice@example.com' });
    expect(ruledClaims(rules, BOB)).toEqual({ login: 'bob' });
  });

  test('members of the person', () => {
    expect(told('a=email', 'b=name', 'c=username', 'd=groups', 'e=attribute department')).toEqual({
      a: 'alice@example.com',
      b: 'Alice Liddell',
      c: 'alice',
      d: ['staff', 'Chess club'],
      e: 'research',
    });
    expect(ruledClaims(['a=email', 'b=name', 'd=groups', 'e=attribute x'], BOB)).toEqual({ d: [] });
  });

  test('a person whose name, group or attribute looks like a rule is told as it is', () => {
    const text = 'x if group admins';
    const eve = {
      id: 'eve',
      name: 'role=admin',
      profile: {
        display_name: 'role="admin"',
        groups: [text],
        attributes: [{ name: 'role', value: 'admin" if group "admins' }],
      },
    };
    const rules = ['role="admin" if group "admins"', 'n=name', 'u=username', 'a=attribute role'];
    expect(ruledClaims(rules, eve)).toEqual({
      n: 'role="admin"',
      u: 'role=admin',
      a: 'admin" if group "admins',
    });
  });
});

describe('a client without a person', () => {
  test('gets what the rules say of everybody', () => {
    const rules = [
      'tenant="acme"',
      'live=true',
      'role="admin" if group "admins"',
      'who=username',
      'roles=groups',
      'roles="machine"',
      'unit=attribute department',
    ];
    expect(ruledClaims(rules, undefined)).toEqual({ tenant: 'acme', live: true, roles: 'machine' });
  });

  test('gets nothing without rules', () => {
    expect(ruledClaims(undefined, undefined)).toEqual({});
  });
});

describe('addresses', () => {
  test('an unverified address is no value of a rule', () => {
    const emails = [{ address: 'root@example.com', verified: false }];
    const eve = { id: 'eve', name: 'eve', profile: { emails } };
    expect(ruledClaims(['login=email', 'email=email'], eve)).toEqual({});
  });

  test.each([
    ['email=email', 'alice@example.com', true],
    ['email="Alice@Example.com"', 'Alice@Example.com', true],
    ['email="second@example.com"', 'second@example.com', false],
    ['email="root@example.com"', 'root@example.com', false],
    ['email=attribute department', 'research', false],
    ['email=true', true, false],
  ])('%s tells email_verified with it', (rule, email, isVerified) => {
    expect(told(rule)).toEqual({ email, email_verified: isVerified });
  });

  test('a foreign address in place of a verified one is not verified, and neither is one of a machine', () => {
    const scopes = new Set(['email']);
    expect(toldClaims(ALICE, scopes, ['email="root@example.com"'])).toEqual({
      email: 'root@example.com',
      email_verified: false,
    });
    expect(ruledClaims(['email="bot@example.com"'], undefined)).toMatchObject({
      email_verified: false,
    });
  });
});

test('rules replace claims of scopes, and a rule that does not match leaves them', () => {
  const scopes = new Set(['profile', 'groups']);
  const claims = toldClaims(ALICE, scopes, [
    'preferred_username="root" if group "admins"',
    'groups="none"',
    'role="x"',
  ]);
  expect(claims).toEqual({
    name: 'Alice Liddell',
    preferred_username: 'alice',
    groups: 'none',
    role: 'x',
  });
});

test('a stored text that is no rule, or sets a reserved claim, tells nothing', () => {
  expect(told('sub="root"', 'AUD="x"', '__proto__="x"', 'nonsense', 'role="x"')).toEqual({
    role: 'x',
  });
});

test('no rule changes a claim that tells what the token is', () => {
  const KEPT = ['iss', 'sub', 'aud', 'exp', 'iat', 'jti', 'client_id', 'scope', 'cnf', 'sub_gen'];
  const cased = (name: string, bits: number) =>
    Array.from(name, (c, at) => ((bits >> at) & 1 ? c.toUpperCase() : c)).join('');
  const claim = fc.oneof(
    fc.tuple(fc.constantFrom(...KEPT), fc.nat(0xfff)).map(([name, bits]) => cased(name, bits)),
    fc.string({ maxLength: 12 }),
    fc.constantFrom('__proto__', 'constructor', ...Object.values(CLAIMS_OF_SCOPES).flat()),
  );
  const value = fc.constantFrom('x', '"x"', 'email', 'groups', 'true', 'attribute department');
  const condition = fc.constantFrom('', ' if group staff', ' if person alice');
  const rule = fc
    .tuple(claim, value, condition)
    .map(([name, told_, on]) => `${name}=${told_}${on}`);
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 8 }), (rules) => {
      const claims = ruledClaims(rules, ALICE);
      expect(Object.getPrototypeOf(claims)).toBe(Object.prototype);
      for (const name of Object.keys(claims)) expect(KEPT).not.toContain(name.toLowerCase());
    }),
  );
});
