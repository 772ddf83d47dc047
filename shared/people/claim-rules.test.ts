import { describe, expect, test } from '@jest/globals';
import { formatRule, isRule, parseRule } from './claim-rules.ts';

/** Returns the rule as it is kept, or the code of its mistake. */
function read(text: string): string {
  const parsed = parseRule(text);
  return isRule(parsed) ? formatRule(parsed) : parsed.code;
}

describe('the grammar of rules', () => {
  test.each([
    ['role=admin if group admins', 'role="admin" if group "admins"'],
    ['role=user', 'role="user"'],
    ['preferred_username=email', 'preferred_username=email'],
    ['login=preferred_username', 'login=username'],
    ['login=username', 'login=username'],
    ['full_name=name', 'full_name=name'],
    ['roles=groups', 'roles=groups'],
    ['groups="groups"', 'groups="groups"'],
    ['unit=attribute department', 'unit=attribute department'],
    ['unit=attribute "department"', 'unit=attribute department'],
    ['unit="attribute"', 'unit="attribute"'],
    ['admin=true', 'admin=true'],
    ['admin="true"', 'admin="true"'],
    ['none=""', 'none=""'],
    ['sum=1+1=2', 'sum="1+1=2"'],
    ['word=if if group if', 'word="if" if group "if"'],
    ['https://app.example/role=x', 'https://app.example/role="x"'],
    ['role="x y"   if group  "Chess club"  ', 'role="x y" if group "Chess club"'],
    ['role="a \\"b\\" \\\\c"', 'role="a \\"b\\" \\\\c"'],
    ['role=a if group "if group b"', 'role="a" if group "if group b"'],
    ['role=a if person ALICE', 'role="a" if person "alice"'],
    ['role=a if attribute level is 3', 'role="a" if attribute level is "3"'],
    ['role=a if attribute is is is', 'role="a" if attribute is is "is"'],
    ['role=a if group Ku\u0308che', 'role="a" if group "Küche"'],
  ])('%s is kept as %s', (text, kept) => {
    expect(read(text)).toBe(kept);
    expect(read(kept)).toBe(kept);
  });

  test.each([
    ['', 'claim-form'],
    ['role', 'claim-form'],
    ['role=', 'claim-form'],
    ['role =admin', 'claim-form'],
    ['role= admin', 'claim-quotes'],
    ['=admin', 'claim-form'],
    [' role=admin', 'claim-form'],
    ['role=admin editor', 'claim-words'],
    ['role=admin "if" group a', 'claim-words'],
    ['role=admin if', 'claim-form'],
    ['role=admin if group', 'claim-form'],
    ['role=admin if "group" a', 'claim-form'],
    ['role=admin if team a', 'claim-condition'],
    ['role=admin if not group a', 'claim-condition'],
    ['role=admin if group a or group b', 'claim-words'],
    ['role=admin if group Chess club', 'claim-words'],
    ['role=admin if group "a,b"', 'group-name'],
    ['role=admin if group ""', 'group-name'],
    ['role=admin if person "a b"', 'person-name'],
    ['role=admin if attribute level', 'claim-form'],
    ['role=admin if attribute level = 3', 'claim-form'],
    ['role=admin if attribute level "is" 3', 'claim-form'],
    ['role=admin if attribute level is', 'claim-form'],
    ['role=admin if attribute level is " 3"', 'attribute-value'],
    ['role=admin if attribute 1st is 3', 'attribute-name'],
    ['role=attribute', 'claim-form'],
    ['role=attribute __proto__', 'attribute-name'],
    ['role=Email', 'claim-case'],
    ['role=TRUE', 'claim-case'],
    ['role="admin', 'claim-quotes'],
    ['role="a"b', 'claim-quotes'],
    ['role="a\\n"', 'claim-quotes'],
    ['role="a\nb"', 'claim-quotes'],
    ['role=a\tif group b', 'claim-quotes'],
    ["role='admin'", 'claim-quotes'],
    ['role=$(id)', 'claim-quotes'],
    ['role=["admin"]', 'claim-quotes'],
    ['role=a\u001b[2J', 'claim-quotes'],
    ['role=a\u202eb', 'claim-quotes'],
    ['role="\ud800"', 'claim-quotes'],
    [`role="${'x'.repeat(257)}"`, 'claim-text'],
    [`role="${'ü'.repeat(129)}"`, 'claim-text'],
    [`role=${'x'.repeat(1020)}`, 'too-long'],
    ['"role"=admin', 'claim-form'],
    ['rôle=admin', 'claim-name'],
    ['1st=admin', 'claim-name'],
    [`${'r'.repeat(129)}=admin`, 'claim-name'],
  ])('%j is refused: %s', (text, code) => {
    expect(read(text)).toBe(code);
  });
});

describe('reserved claims', () => {
  const names = [
    'iss sub aud exp nbf iat jti nonce auth_time acr amr azp at_hash c_hash s_hash sid cnf act may_act scope scp',
    'client_id htm htu ath sub_gen client_gen epoch grant_id openid_scope chain access active token_type events',
    'email_verified constructor prototype toString hasOwnProperty valueOf',
  ];
  test.each(names.join(' ').split(' '))('%s is refused in every spelling', (name) => {
    for (const spelling of [name, name.toUpperCase(), name[0]?.toUpperCase() + name.slice(1)]) {
      expect([spelling, read(`${spelling}=x`)]).toEqual([spelling, 'claim-reserved']);
    }
  });

  test.each([
    '__proto__',
    '__defineGetter__',
    '_claim_names',
    '_claim_sources',
    'ſub',
    'sub\u200b',
  ])('%s is the name of no claim', (name) => {
    expect(read(`${name}=x`)).toBe('claim-name');
  });

  test('a claim of a scope has its own spelling alone', () => {
    expect(read('Email=x')).toBe('claim-known');
    expect(read('PREFERRED_USERNAME=x')).toBe('claim-known');
    expect(read('email=x')).toBe('email="x"');
  });
});

test.each([
  ['many words', `a=${'b '.repeat(511)}`],
  ['many quotation marks', `a=${'"" '.repeat(340)}`],
  ['an open quotation with escapes', `a="${'\\"'.repeat(510)}`],
  ['a long name', 'a'.repeat(1024)],
  ['a text beyond the limit', `a="${'\\"'.repeat(5_000_000)}`],
])('the worst input takes little time: %s', (_, text) => {
  const before = process.cpuUsage();
  for (let n = 0; n < 100; n += 1) parseRule(text);
  const { user } = process.cpuUsage(before);
  expect(user / 100).toBeLessThan(5000);
});
