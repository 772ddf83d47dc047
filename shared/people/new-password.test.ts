import { expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { newPassword } from './new-password.ts';
import { judgePassword } from './password-rules.ts';

test('a new password has 20 of 32 equally likely characters, which are 100 bits', () => {
  const bytes = Array.from({ length: 260 }, (_, byte) => byte % 256);
  const counts = new Map<string, number>();
  for (let start = 0; start < 256; start += 20) {
    const password = newPassword(() => Buffer.from(bytes.slice(start, start + 20)));
    expect(password).toMatch(/^([a-km-np-z2-9]{5}-){3}[a-km-np-z2-9]{5}$/);
    for (const character of password.replaceAll('-', '')) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  // 256 bytes give every character 8 times; the last four of the 260 give the first four characters again.
  expect(counts.size).toBe(32);
  expect([...counts.values()].toSorted((a, b) => a - b)).toEqual([
    ...Array.from({ length: 28 }, () => 8),
    ...Array.from({ length: 4 }, () => 9),
  ]);
});

test('a new password satisfies the rules, and no two are equal', async () => {
  const made = Array.from({ length: 1000 }, () => newPassword(systemRandom));
  expect(new Set(made).size).toBe(1000);
  for (const password of made) {
    expect(await judgePassword(password)).toEqual({ enforced: password });
  }
});
