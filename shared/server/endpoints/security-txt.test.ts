import { describe, expect, test } from '@jest/globals';
import { configSchema } from '#shared/config/schema.ts';
import { SECURITY_TXT, securityTxt } from './security-txt.ts';

const ORIGINS = ['https://auth.example', 'https://auth.example:3443'];
const EXPIRES = '2027-06-30T00:00:00Z';
const contacts = ['mailto:security@auth.example', 'https://auth.example/report'];

function fileAt(time: string, security?: unknown) {
  const config = configSchema.parse({ security });
  const clock = { now: () => Date.parse(time) };
  return new Map(securityTxt(config, ORIGINS, clock)).get(SECURITY_TXT);
}
const answerAt = (time: string, security: unknown) =>
  fileAt(time, security)?.answer?.({} as never, {} as never);

describe('security.txt (RFC 9116)', () => {
  test('the file has the contacts in order, one Expires, and the configured addresses', () => {
    const policy = 'https://auth.example/policy';
    expect(answerAt('2027-01-01T00:00:00Z', { contacts, expires: EXPIRES, policy })).toEqual({
      status: 200,
      fields: { 'Content-Type': 'text/plain; charset=utf-8' },
      body: `Contact: mailto:security@auth.example
Contact: https://auth.example/report
Expires: 2027-06-30T00:00:00Z
Canonical: https://auth.example/.well-known/security.txt
Canonical: https://auth.example:3443/.well-known/security.txt
Policy: https://auth.example/policy
`,
    });
  });

  test('the file is served only if it is configured, and until it expires (section 2.5.5)', () => {
    expect(fileAt(EXPIRES)).toBeUndefined();
    const security = { contacts, expires: EXPIRES };
    expect(answerAt('2027-06-29T23:59:59Z', security)).toMatchObject({ status: 200 });
    expect(() => answerAt(EXPIRES, security)).toThrow(expect.objectContaining({ status: 404 }));
  });

  test.each([
    ['no contact', { contacts: [], expires: EXPIRES }],
    ['a contact that is no URI', { contacts: ['security@auth.example'], expires: EXPIRES }],
    ['a space in a contact', { contacts: ['mailto:a b@auth.example'], expires: EXPIRES }],
    ['a character of no URI', { contacts: ['mailto:<a@auth.example>'], expires: EXPIRES }],
    ['a scheme alone', { contacts: ['tel:'], expires: EXPIRES }],
    ['http', { contacts: ['http://auth.example/'], expires: EXPIRES }],
    ['a second line', { contacts: ['mailto:a@b.example\nContact: mailto:c'], expires: EXPIRES }],
    ['no end', { contacts }],
    ['a day without a time', { contacts, expires: '2027-06-30' }],
    ['a policy by http', { contacts, expires: EXPIRES, policy: 'http://auth.example/' }],
  ])('a configuration with %s is refused', (_, security) => {
    expect(configSchema.safeParse({ security }).success).toBe(false);
  });

  test('RFC 3986: a contact may have any form of a URI', () => {
    const forms = ['tel:+1-201-555-0123', 'mailto:a%20b@[::1]?subject=x&cc=y', 'https://a/~b#c'];
    expect(
      configSchema.safeParse({ security: { contacts: forms, expires: EXPIRES } }).success,
    ).toBe(true);
  });
});
