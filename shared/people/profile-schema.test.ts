import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { profileSchema } from './profile-schema.ts';

const taken = (profile: unknown) => profileSchema.safeParse(profile).success;
const withEmails = (...addresses: string[]) => ({
  emails: addresses.map((address) => ({ address, verified: true })),
});
/** Returns an at sign and a domain, so many octets in total. */
const domain = (length: number) => `@${'d.'.repeat(length)}`.slice(0, length - 2) + 'de';

test('a full profile is stored as it is', () => {
  const profile = {
    display_name: 'Alice Liddell, née Übel',
    ...withEmails('alice@example.com', 'Alice@xn--bcher-kva.example'),
    groups: ['Staff', 'Chess club', 'a/b:c'],
    locale: 'de-CH-1996',
    picture: 'https://pictures.example/alice.png?size=2#x',
  };
  expect(profileSchema.parse(profile)).toEqual(profile);
  expect(profileSchema.parse({})).toEqual({});
});

describe('e-mail addresses', () => {
  test.each([
    ['no @', 'alice.example.com'],
    ['two', 'alice@b@example.com'],
    ['nothing before it', '@example.com'],
    ['nothing after it', 'alice@'],
    ['a space', 'al ice@example.com'],
    ['a comma, by which fields separate', 'alice,bob@example.com'],
    ['the end of a line', 'alice@example.com\r\nX-Auth-Groups: admin'],
    ['a zero', 'alice@example.com\u0000'],
    ['a character that turns the text around', 'alice@\u202Eexample.com'],
    ['half a surrogate', 'alice@\uD800.example'],
    ['more than 254 octets (RFC 5321)', `a${domain(254)}`],
    ['254 characters of more octets', `a@ü${domain(252).slice(1)}`],
    ['a single label', 'alice@localhost'],
    ['an address of a host', 'alice@[127.0.0.1]'],
    ['quotes', '"alice"@example.com'],
    ['letters before it that are not ASCII', 'älice@example.com'],
  ])('an address is refused: %s', (_, address) => {
    expect(taken(withEmails(address))).toBe(false);
  });

  test('ten addresses of 254 octets are accepted', () => {
    expect(taken(withEmails(`a${domain(253)}`))).toBe(true);
    const many = Array.from({ length: 11 }, (_, n) => `a${n}@example.com`);
    expect(taken(withEmails(...many.slice(1)))).toBe(true);
    expect(taken(withEmails(...many))).toBe(false);
  });

  test('each address is stored once, in any case', () => {
    expect(taken(withEmails('alice@example.com', 'Alice@Example.com'))).toBe(false);
  });

  test('a domain is stored in ASCII (RFC 5891), so that each address is stored once', () => {
    expect(profileSchema.parse(withEmails('alice@bücher.example'))).toEqual(
      withEmails('alice@xn--bcher-kva.example'),
    );
    expect(taken(withEmails('alice@bücher.example', 'alice@xn--bcher-kva.example'))).toBe(false);
  });

  test('each address has to say whether it is verified', () => {
    expect(taken({ emails: [{ address: 'alice@example.com' }] })).toBe(false);
    expect(taken({ emails: [{ address: 'alice@example.com', verified: 'yes' }] })).toBe(false);
  });
});

describe('groups', () => {
  test.each([
    ['nothing', ''],
    ['a space', ' '],
    ['a space before it, which a list would lose', ' admin'],
    ['and after it', 'admin '],
    ['a comma, which would make two of it', 'staff,admin'],
    ['the end of a line', 'staff\nadmin'],
    ['a character that nobody sees', 'ad\u200Bmin'],
    ['65 characters', 'x'.repeat(65)],
  ])('a group is refused: %s', (_, group) => {
    expect(taken({ groups: [group] })).toBe(false);
  });

  test('a group is the same in composed and decomposed form', () => {
    expect(profileSchema.parse({ groups: ['Ku\u0308che'] })).toEqual({ groups: ['Küche'] });
    expect(taken({ groups: ['Ku\u0308che', 'Küche'] })).toBe(false);
  });

  test('a hundred groups of 4,096 octets in total are accepted, and no more', () => {
    const many = Array.from({ length: 101 }, (_, n) => `group ${n}`);
    expect(taken({ groups: many.slice(1) })).toBe(true);
    expect(taken({ groups: many })).toBe(false);
    const long = Array.from({ length: 63 }, (_, n) => `${n}`.padStart(64, 'x'));
    expect(taken({ groups: long })).toBe(true);
    expect(taken({ groups: [...long, 'y'.repeat(64)] })).toBe(false);
  });
});

describe('locale (RFC 5646)', () => {
  test('a locale is stored in its canonical form', () => {
    expect(profileSchema.parse({ locale: 'EN-gb' })).toEqual({ locale: 'en-GB' });
  });

  test.each(['', 'e', 'en_GB', 'en-', 'en-GB-', 'english language', 'x'.repeat(100), 'de\n'])(
    'the locale %j is refused',
    (locale) => {
      expect(taken({ locale })).toBe(false);
    },
  );
});

describe('picture', () => {
  test.each([
    '',
    'alice.png',
    '//pictures.example/alice.png',
    'javascript:alert(1)',
    'data:image/png;base64,AA==',
    'file:///etc/passwd',
    'https://user:secret@pictures.example/',
    'https://user@pictures.example/',
    `https://pictures.example/${'x'.repeat(1024)}`,
  ])('a picture is refused: %s', (picture) => {
    expect(taken({ picture })).toBe(false);
  });

  test('the stored URL of a picture is visible ASCII', () => {
    expect(profileSchema.parse({ picture: 'http://bücher.example/é?\n' })).toEqual({
      picture: 'http://xn--bcher-kva.example/%C3%A9?',
    });
  });
});

describe('attributes', () => {
  const withAttributes = (...attributes: { name: string; value: string }[]) => ({ attributes });
  const named = (name: string) => withAttributes({ name, value: 'x' });
  const valued = (value: string) => withAttributes({ name: 'a', value });

  test('names and values are kept, texts in NFC', () => {
    const profile = withAttributes(
      { name: 'department', value: 'Research & more, "all"' },
      { name: 'cost-center.2_x', value: 'Ku\u0308che' },
    );
    expect(profileSchema.parse(profile)).toEqual(
      withAttributes(
        { name: 'department', value: 'Research & more, "all"' },
        { name: 'cost-center.2_x', value: 'Küche' },
      ),
    );
    expect(taken(withAttributes())).toBe(true);
  });

  test.each(['', '1st', '_a', '__proto__', 'a b', 'a=b', 'dépt', 'a\n', 'a'.repeat(65)])(
    'the name %j is refused',
    (name) => {
      expect(taken(named(name))).toBe(false);
    },
  );

  test.each(['', ' ', ' a', 'a ', 'a\nb', 'a\u001b[2J', 'a\u202eb', '\ud800', 'a'.repeat(257)])(
    'the value %j is refused',
    (value) => {
      expect(taken(valued(value))).toBe(false);
    },
  );

  test('64 attributes of 256 octets are the most, each name once', () => {
    const some = (count: number) =>
      withAttributes(
        ...Array.from({ length: count }, (_, n) => ({ name: `a${n}`, value: 'ü'.repeat(128) })),
      );
    expect([taken(some(64)), taken(some(65))]).toEqual([true, false]);
    expect(taken(valued('ü'.repeat(129)))).toBe(false);
    const twice = { name: 'a', value: 'x' };
    expect(taken(withAttributes(twice, { ...twice, value: 'y' }))).toBe(false);
    expect(taken(withAttributes(twice, { name: 'A', value: 'y' }))).toBe(true);
  });

  test.each([{ a: 'x' }, ['a=x'], [{ name: 'a' }], [{ name: 'a', value: 1 }], [null]])(
    '%j are no attributes',
    (attributes) => {
      expect(taken({ attributes })).toBe(false);
    },
  );
});

test('an unknown member, or a member of a wrong type, is refused', () => {
  for (const profile of [{ nickname: 'a' }, { display_name: 1 }, { groups: 'a' }, null, [], 'a']) {
    expect(taken(profile)).toBe(false);
  }
});

test('an accepted text cannot break a line or a list', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 30 }), (text) => {
      const { data } = profileSchema.safeParse({
        display_name: text,
        groups: [text],
        ...withEmails(`${text}@example.com`),
      });
      if (data === undefined) return;
      expect([...(data.groups ?? []), data.emails?.[0]?.address].join()).not.toMatch(/\p{C}|,.*,/u);
    }),
  );
});
