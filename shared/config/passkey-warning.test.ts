import { describe, expect, test } from '@jest/globals';
import { somePasskey } from '#shared/stores/contract/samples.ts';
import type { PasskeyRecord } from '#shared/stores/credentials/passkeys.ts';
import { passkeyWarning } from './passkey-warning.ts';
import { configSchema } from './schema.ts';

/** Passkeys for these domains, in slices of two; `read` counts the slices. */
function passkeysFor(...rpIds: readonly string[]) {
  const made = { read: 0, list };
  async function* list(): AsyncGenerator<readonly PasskeyRecord[]> {
    for (let at = 0; at < rpIds.length; at += 2) {
      made.read += 1;
      yield rpIds.slice(at, at + 2).map((rpId) => Object.assign(somePasskey(rpId), { rpId }));
    }
  }
  return made;
}

const config = (issuer: string, rpId?: string) =>
  configSchema.parse({ issuer, people: { passkeys: { ...(rpId !== undefined && { rpId }) } } });

describe('passkeys for another domain (WebAuthn section 5.1.2)', () => {
  test.each([
    ['none at all', config('https://auth.example'), []],
    ['none at an issuer that can have none', config('https://192.0.2.1'), []],
    ['all for the host of the issuer', config('https://auth.example'), ['auth.example']],
    ['all for the parent', config('https://auth.example.com', 'example.com'), ['example.com']],
  ])('%s: no warning', async (_, of, rpIds) => {
    expect(await passkeyWarning(of, passkeysFor(...rpIds))).toBeUndefined();
  });

  test('the warning names the domains with their numbers of passkeys, and what to do', async () => {
    const rpIds = [
      'auth.example.com',
      'example.com',
      'old.example',
      'auth.example.com',
      'a.example',
    ];
    const warning = await passkeyWarning(
      config('https://auth.example.com', 'example.com'),
      passkeysFor(...rpIds),
    );
    expect(warning).toMatchObject({
      path: 'people.passkeys.rpId',
      message:
        'is example.com, and people have passkeys for auth.example.com (2), old.example (1), a.example (1), which sign nobody in. Set it to the former domain, or let people make new ones',
    });
  });

  test('if the new issuer has an IP address, the warning says that no passkey works', async () => {
    const warning = await passkeyWarning(config('https://192.0.2.1'), passkeysFor('auth.example'));
    expect(warning?.message).toBe(
      'fits no passkey: browsers use none at https://192.0.2.1, and people have some for auth.example (1). Use https and a domain',
    );
  });

  test('the warning reads no more slices than allowed', async () => {
    const passkeys = passkeysFor('a', 'a', 'a', 'a', 'old');
    const of = config('https://a');
    expect(await passkeyWarning(of, passkeys, 3)).toBeUndefined();
    expect(passkeys.read).toBe(2);
    expect(await passkeyWarning(of, passkeys)).toMatchObject({
      message: expect.stringContaining('old (1)'),
    });
  });
});
